// SPDX-License-Identifier: BSD-3-Clause
// A blocking lane: a thread of its own waits on the module's descriptor, or until the module's timer has
// run out, and raises a flag, which the poll loop reads as one load. Nexus proposed it (section 3.3, last
// paragraphs).
#pragma once

#include "base/event_fd.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace plexus::poll {

class Watcher {
  public:
    /// `raised` is called on the watcher's thread after the flag went up: it wakes a sleeper.
    Watcher(int fd, std::function<void()> raised);
    ~Watcher();

    /// True if the lane wants to be polled. @thread progress
    bool raised() const noexcept { return flag_.load(std::memory_order_acquire); } // pairs with [raise]

    /// The lane wants to be polled whatever its descriptor says. @thread progress
    void raise() noexcept { flag_.store(true, std::memory_order_relaxed); }

    /// The lane is armed and quiet: watch again, for at most `limit_ns`; UINT64_MAX: without a limit.
    /// @thread progress
    void watch(std::uint64_t limit_ns) noexcept;

  private:
    void loop();

    int fd_;
    EventFd go_;
    std::function<void()> call_;
    std::atomic<bool> flag_{true};                 // up at first: nobody knows yet that the lane is quiet
    std::atomic<std::uint64_t> limit_{UINT64_MAX}; ///< of the watch that go_ asks for; ordered by go_
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace plexus::poll
