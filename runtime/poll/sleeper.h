// SPDX-License-Identifier: BSD-3-Clause
// Where one kind of thread sleeps: an epoll set over the lanes' descriptors, an eventfd that wakes it, and,
// for an event loop that is not ours, a timer.
#pragma once

#include "base/event_fd.h"
#include "base/unique_fd.h"
#include "poll/lane.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

namespace plexus::poll {

class Sleeper {
  public:
    /// `lane_events`: the epoll events of the lanes' descriptors. `timed`: fd() becomes readable when the
    /// time of set_timer() has come.
    explicit Sleeper(std::uint32_t lane_events, bool timed = false);

    /// Announces the sleep to those who wake. Then whoever changes something sees the announcement, or
    /// this thread sees the change. @thread that leads
    void announce() noexcept;
    /// @thread any
    bool announced() const noexcept { return announced_.load(std::memory_order_acquire); }
    void withdraw() noexcept { announced_.store(false, std::memory_order_relaxed); }

    /// Arms every lane that may be polled and lowers `longest` to what they allow. False: there is work,
    /// do not sleep. @thread that leads
    bool arm(std::span<const std::unique_ptr<Lane>> lanes, std::chrono::nanoseconds& longest);
    /// Since announce() the lanes were armed for this sleeper: their events reach it. @thread that leads
    bool armed() const noexcept { return armed_.load(std::memory_order_acquire); }

    /// Sleeps until a lane has work, wake() was called, or the time is over.
    void sleep(std::chrono::nanoseconds longest);
    /// Wakes the thread that sleeps, or the next one to sleep. @thread any
    void wake() noexcept;

    /// For an event loop that sleeps on fd() itself. max(): no timer.
    void set_timer(std::chrono::nanoseconds longest) noexcept;
    /// Takes back earlier calls of wake().
    void clear() noexcept;
    int fd() const noexcept { return set_.get(); }

  private:
    /// What the kernel refuses stays unwatched, and is tried again before the next sleep.
    void watch(std::size_t lane, int fd, bool wanted);

    UniqueFd set_;
    EventFd wake_;
    UniqueFd timer_;
    const std::uint32_t lane_events_;
    std::vector<bool> watched_; ///< per lane; the leader's
    bool timer_runs_ = false;   ///< the leader's
    // [asleep] announce() pairs with the fence in Scheduler::wake(): the waker sees the sleeper, or the
    // sleeper what happened.
    std::atomic<bool> announced_{false};
    // Cleared before announced_ is set: whoever sees the announcement does not see an older `true`.
    std::atomic<bool> armed_{false};
};

} // namespace plexus::poll
