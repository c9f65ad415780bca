// SPDX-License-Identifier: BSD-3-Clause
// Who sent the request whose handler runs on this thread.
#pragma once

#include "plexus/id.h"

#include <string>

namespace plexus {

struct Caller {
    ContextId context;
    std::string name;   ///< its configuration key `name`; empty if it has none
    std::string method; ///< by which the request came: "shm", "libfabric:verbs"
};

/// Inside a handler, on its own thread, until it returns or, as a coroutine, first waits.
/// @thread any  @error bad_argument no handler runs on this thread (thrown)
PLEXUS_API Caller caller();

} // namespace plexus
