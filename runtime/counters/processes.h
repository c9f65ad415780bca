// SPDX-License-Identifier: BSD-3-Clause
// Which processes of this host have memory in which a context shows its counters: what /proc says. The
// system lets a user look into the user's own processes, and root into all. @thread any
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace plexus::counters {

/// Those of this user, in rising order. @error runtime_lost what the system says
Result<std::vector<pid_t>> own_processes();

/// The paths by which the memory of a process's contexts can be opened.
/// @error not_found there is no such process
/// @error denied it is another user's
/// @error runtime_lost this process has no descriptor left to look
Result<std::vector<std::string>> paths_of(pid_t process);

/// True if this process calls itself `inner`; in a namespace of its own it may have another number there.
bool has_number(pid_t process, std::int32_t inner);

} // namespace plexus::counters
