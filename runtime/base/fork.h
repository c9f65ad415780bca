// SPDX-License-Identifier: BSD-3-Clause
// Tells whether this process was forked since something was made. In a forked child the threads of the
// parent do not exist, locks may be held for ever, and sockets and shared memory belong to the parent.
#pragma once

#include <atomic>
#include <cstdint>

namespace plexus {

namespace detail {
extern std::atomic<std::uint32_t> fork_count;
} // namespace detail

/// Counts the forks that lie between this process and the one that loaded the library. Costs one load.
/// Does not see a raw clone(2), which runs no fork handlers. @thread any
inline std::uint32_t fork_count() noexcept { return detail::fork_count.load(std::memory_order_relaxed); }

/// Remembers the process in which it was made.
class BirthProcess {
  public:
    /// True in a process that was forked from that one, or from its child. @thread any
    bool left() const noexcept { return count_ != fork_count(); }

  private:
    std::uint32_t count_ = fork_count();
};

} // namespace plexus
