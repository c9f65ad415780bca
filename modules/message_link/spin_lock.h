// SPDX-License-Identifier: BSD-3-Clause
// The lock around a library's worker or endpoint. It is held for the length of one call of the library, by
// the poller at nearly every moment of a busy loop, so taking it when it is free has to cost
// no more than one exchange; who finds it taken looks for a while and then gives its turn
// away. Never held while a callback of the host runs.
#pragma once

#include "common/mutex.h"

#include <atomic>
#include <sched.h>

namespace plexus::message_link {

class PLEXUS_MODULE_ANNOTATION(capability("mutex")) SpinLock {
  public:
    void lock() noexcept PLEXUS_MODULE_ANNOTATION(acquire_capability()) {
        // [lock] Acquire pairs with the release in unlock().
        if (!taken_.exchange(true, std::memory_order_acquire)) [[likely]]
            return;
        wait();
    }
    void unlock() noexcept PLEXUS_MODULE_ANNOTATION(release_capability()) {
        taken_.store(false, std::memory_order_release); // [lock]
    }

  private:
    void wait() noexcept {
        constexpr int kLooks = 200;
        do {
            for (int i = 0; i < kLooks && taken_.load(std::memory_order_relaxed); ++i) pause();
            if (taken_.load(std::memory_order_relaxed)) (void)::sched_yield();
        } while (taken_.exchange(true, std::memory_order_acquire)); // [lock]
    }
    static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    std::atomic<bool> taken_{false};
};

class PLEXUS_MODULE_ANNOTATION(scoped_lockable) Hold {
  public:
    explicit Hold(SpinLock& lock) noexcept PLEXUS_MODULE_ANNOTATION(acquire_capability(lock))
      : lock_(lock) {
        lock_.lock();
    }
    ~Hold() PLEXUS_MODULE_ANNOTATION(release_capability()) { lock_.unlock(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

  private:
    SpinLock& lock_;
};

} // namespace plexus::message_link
