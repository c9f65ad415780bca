// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait while another thread polls: they sleep until the leader, or anybody else, has news.
#pragma once

#include "base/barrier.h"
#include "base/clock.h"
#include "base/counted.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace plexus::poll {

class Followers {
  public:
    /// [follow] A follower counts itself, runs heavy_barrier() and then looks at its condition. The leader
    /// changes conditions, runs light_barrier() and then looks at the count. One sees the other. @thread any
    void tell() noexcept {
        light_barrier();
        if (count_.load(std::memory_order_relaxed) > 0) [[unlikely]]
            tell_all();
    }
    void tell_all() noexcept {
        {
            const std::lock_guard hold(mutex_);
            ++news_;
        }
        changed_.notify_all();
    }

    /// Sleeps until told or until the deadline, unless `stay()`, asked under no lock, is false.
    template <class Stay>
    void sleep(Clock::time_point deadline, Stay&& stay) {
        const Counted counted(count_);
        heavy_barrier(); // [follow]
        std::uint64_t seen;
        {
            const std::lock_guard hold(mutex_);
            seen = news_;
        }
        if (!stay()) return;
        std::unique_lock hold(mutex_);
        changed_.wait_until(hold, deadline, [&] { return news_ != seen; });
    }

  private:
    std::atomic<std::uint32_t> count_{0}; ///< [follow]
    std::mutex mutex_;                    ///< below only; a leaf
    std::condition_variable changed_;
    std::uint64_t news_ = 0;
};

} // namespace plexus::poll
