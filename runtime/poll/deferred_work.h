// SPDX-License-Identifier: BSD-3-Clause
// The deferred work of the room above: run by the leader when it was requested or is due. No exception
// leaves run().
#pragma once

#include "base/clock.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace plexus::poll {

class DeferredWork {
  public:
    /// `work` returns how long until it must be called again without a request; max(): never. @thread setup
    void set(std::function<std::chrono::nanoseconds()> work) { work_ = std::move(work); }

    /// [requested] stored after the caller has written what is to be done. @thread any
    void request() noexcept { requested_.store(true, std::memory_order_release); }
    bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

    // Leader only.
    void run();
    /// Says in the log that an exception came out of `where`; at the first, second, fourth, eighth … time.
    /// Called in a catch block.
    void note_exception(const char* where) noexcept;
    bool timed() const noexcept { return next_ != Clock::time_point::max(); }
    /// Requests the work if it is due.
    void look(Clock::time_point now) noexcept {
        if (now >= next_) requested_.store(true, std::memory_order_relaxed);
    }
    /// Until the work is due; max(): it waits for a request only.
    std::chrono::nanoseconds time_left() const {
        return timed() ? std::max(std::chrono::nanoseconds{0}, next_ - Clock::now())
                       : std::chrono::nanoseconds::max();
    }

  private:
    std::function<std::chrono::nanoseconds()> work_;
    Clock::time_point next_ = Clock::time_point::max();
    std::atomic<bool> requested_{false};
    std::uint64_t exceptions_ = 0; ///< noted so far
};

} // namespace plexus::poll
