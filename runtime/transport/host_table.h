// SPDX-License-Identifier: BSD-3-Clause
// The host's side of the module contract: plain C functions that lead to Demux and Failover.
#pragma once

#include "transport/interface.h"

namespace plexus::transport {

/// The table that a module calls; `interface` outlives the module. No exception leaves its functions.
plexus_host make_host(Interface& interface);

} // namespace plexus::transport
