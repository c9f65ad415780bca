// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait while another thread polls: they sleep until the leader, or anybody else, has news.
#pragma once

#include "base/barrier.h"
#include "base/clock.h"
#include "base/condition_variable.h"
#include "base/counted.h"
#include "base/mutex.h"

#include <atomic>
#include <cstdint>

namespace plexus::poll {

class Followers {
  public:
    /// [follow] A follower counts itself, runs heavy_barrier() and then looks at its condition. The leader
    /// changes conditions, runs light_barrier() and then looks at the count. One sees the other. @thread any
    void tell() noexcept PLEXUS_EXCLUDES(mutex_) {
        light_barrier();
        if (count_.load(std::memory_order_relaxed) > 0) [[unlikely]]
            tell_all();
    }
    void tell_all() noexcept PLEXUS_EXCLUDES(mutex_) {
        {
            Lock hold(mutex_);
            ++news_;
        }
        changed_.notify_all();
    }

    /// Sleeps until told or until the deadline, unless `stay()`, asked under no lock, is false.
    template <class Stay>
    void sleep(Clock::time_point deadline, Stay&& stay) PLEXUS_EXCLUDES(mutex_) {
        const Counted counted(count_);
        heavy_barrier(); // [follow]
        std::uint64_t seen;
        {
            Lock hold(mutex_);
            seen = news_;
        }
        if (!stay()) return;
        Lock hold(mutex_);
        while (news_ == seen && changed_.wait_until(mutex_, deadline)) {}
    }

  private:
    std::atomic<std::uint32_t> count_{0}; ///< [follow]
    RankedMutex<50> mutex_;               ///< a leaf
    ConditionVariable changed_;
    std::uint64_t news_ PLEXUS_GUARDED_BY(mutex_) = 0;
};

} // namespace plexus::poll
