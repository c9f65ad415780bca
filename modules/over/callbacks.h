// SPDX-License-Identifier: BSD-3-Clause
// The host table that an inner module calls: its `self` is the Module, its cookies are Links.
#pragma once

#include "plexus/module/abi.h"

namespace plexus::over {

class Module;

/// Lives as long as `module`. @thread setup
plexus_host host_table(Module& module);

} // namespace plexus::over
