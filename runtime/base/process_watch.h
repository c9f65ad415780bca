// SPDX-License-Identifier: BSD-3-Clause
// Processes as pidfds: readable once the process has ended, also while a forked child of it keeps its sockets
// open. A process number alone may name another process later. @thread any
#pragma once

#include "base/unique_fd.h"

#include <cstdint>
#include <sys/types.h>

namespace plexus {

/// When a process was started, in clock ticks since boot; 0: unknown.
std::uint64_t start_time_of(pid_t process) noexcept;

/// The process that opened the other end of `socket` (SO_PEERPIDFD, Linux 6.5). Empty: errno says why.
UniqueFd peer_process(int socket) noexcept;

/// The process that has the number `process` now. Empty: errno says why, ESRCH if there is none.
UniqueFd process_numbered(pid_t process) noexcept;

/// The process `process`, provided that it was started at `start_time`: its number may have been given to
/// another since. Empty: errno says why, ESRCH if it is another or has ended, ENODATA if the number or the
/// time (0) is not known.
UniqueFd process_started_at(pid_t process, std::uint64_t start_time) noexcept;

/// `process` is a pidfd. False for a negative one, of which nothing is known.
bool has_ended(int process) noexcept;

} // namespace plexus
