// SPDX-License-Identifier: BSD-3-Clause
// Links that want the progress thread's attention in the next turn, and whether the thread must be woken for
// it.
#pragma once

#include "base/lock.h"

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace plexus::stream_link {

class Link;

class NotifiedLinks {
  public:
    // @thread any. True: the progress thread sleeps, and the caller wakes it.
    [[nodiscard]] bool add(Link& link);
    /// A turn is wanted without a link.
    [[nodiscard]] bool request_turn();

    /// `link` is over.
    void remove(Link& link);
    void clear(); ///< @thread setup

    // @thread progress
    /// A turn is wanted.
    bool any() const noexcept { return any_.load(std::memory_order_relaxed); } // [noted]
    /// The oldest links, `most` of them.
    std::vector<Link*> take(std::size_t most);
    /// The thread is going to sleep. False: a turn is wanted.
    bool arm();
    /// The first thing in a turn.
    void disarm() {
        if (slept_) [[unlikely]]
            end_sleep();
    }

  private:
    bool want_turn() PLEXUS_REQUIRES(mutex_);
    void end_sleep();

    bool slept_ = false; // progress thread
    // [noted] A hint that links_ has something: a turn that misses it is followed by another, and arm() asks
    // under the lock.
    std::atomic<bool> any_{false};
    Mutex mutex_;
    std::vector<Link*> links_ PLEXUS_GUARDED_BY(mutex_);
    bool armed_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::stream_link
