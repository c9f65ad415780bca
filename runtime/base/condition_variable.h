// SPDX-License-Identifier: BSD-3-Clause
// A condition variable for ranked mutexes: clang checks that who waits holds the lock. Ask for the condition
// in a loop, not in a lambda, whose body is checked as if it held nothing.
#pragma once

#include "base/clock.h"
#include "base/mutex.h"

#include <condition_variable>

namespace plexus {

class ConditionVariable {
  public:
    void notify_one() noexcept { changed_.notify_one(); }
    void notify_all() noexcept { changed_.notify_all(); }

    template <int Rank>
    void wait(RankedMutex<Rank>& mutex) PLEXUS_REQUIRES(mutex) {
        std::unique_lock hold(mutex.mutex_, std::adopt_lock);
        changed_.wait(hold);
        hold.release();
    }
    /// False: the deadline has passed.
    template <int Rank>
    bool wait_until(RankedMutex<Rank>& mutex, Clock::time_point deadline) PLEXUS_REQUIRES(mutex) {
        if (deadline == Clock::time_point::max()) { // overflows in some versions of the standard library
            wait(mutex);
            return true;
        }
        std::unique_lock hold(mutex.mutex_, std::adopt_lock);
        const bool is_early = changed_.wait_until(hold, deadline) == std::cv_status::no_timeout;
        hold.release();
        return is_early;
    }

  private:
    std::condition_variable changed_;
};

} // namespace plexus
