// SPDX-License-Identifier: BSD-3-Clause
// The lock around a library's worker or endpoint. It is held for the length of one call of the library, by
// the poller at nearly every moment of a busy loop, so taking it when it is free has to cost
// no more than one exchange; who finds it taken looks for a while and then gives its turn
// away. Never held while a callback of the host runs.
#pragma once

#include "base/lock.h"
#include "base/pause.h"

#include <atomic>
#include <sched.h>

namespace plexus::message_link {

class PLEXUS_CAPABILITY("mutex") SpinLock {
  public:
    void lock() noexcept PLEXUS_ACQUIRE() {
        // [lock] Acquire pairs with the release in unlock().
        if (!taken_.exchange(true, std::memory_order_acquire)) [[likely]]
            return;
        wait();
    }
    void unlock() noexcept PLEXUS_RELEASE() {
        taken_.store(false, std::memory_order_release); // [lock]
    }

  private:
    void wait() noexcept {
        constexpr int kLooks = 200;
        do {
            for (int i = 0; i < kLooks && taken_.load(std::memory_order_relaxed); ++i) relax();
            if (taken_.load(std::memory_order_relaxed)) (void)::sched_yield();
        } while (taken_.exchange(true, std::memory_order_acquire)); // [lock]
    }

    std::atomic<bool> taken_{false};
};

class PLEXUS_SCOPED_CAPABILITY Hold {
  public:
    explicit Hold(SpinLock& lock) noexcept PLEXUS_ACQUIRE(lock)
      : lock_(lock) {
        lock_.lock();
    }
    ~Hold() PLEXUS_RELEASE() { lock_.unlock(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

  private:
    SpinLock& lock_;
};

} // namespace plexus::message_link
