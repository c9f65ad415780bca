// SPDX-License-Identifier: BSD-3-Clause
// Tells whether this process was forked since something was made. In a forked child the threads of the
// parent do not exist, locks may be held for ever, and sockets and shared memory belong to the parent.
#pragma once

#include "base/mutex.h"

#include <atomic>
#include <cstdint>

namespace plexus {

namespace detail {
extern std::atomic<std::uint32_t> fork_count;
} // namespace detail

/// Counts the forks that lie between this process and the one that loaded the library. Costs one load.
/// Does not see a raw clone(2), which runs no fork handlers. @thread any
inline std::uint32_t fork_count() noexcept { return detail::fork_count.load(std::memory_order_relaxed); }

/// What everything that belongs to the process which was forked ends with.
inline constexpr const char* kForkedText = "this process was forked from the one that started the context: "
                                           "start a context here, or call exec after fork";

/// Remembers the process in which it was made.
class BirthProcess {
  public:
    /// True in a process that was forked from that one, or from its child. @thread any
    bool left() const noexcept { return count_ != fork_count(); }

  private:
    std::uint32_t count_ = fork_count();
};

/// Holds a lock of the whole process during every fork(2), so that a forked child finds the lock free and
/// the data behind it whole. Stands beside each such lock as an object of the namespace: what the lock
/// belongs to is then also made before any thread may fork. Never ends. Not copied by the caller.
class HeldAcrossFork {
  public:
    template <int Rank, template <int> class Mutex>
    explicit HeldAcrossFork(Mutex<Rank>& mutex)
      : HeldAcrossFork({Rank, &mutex, [](void* it) { take(*static_cast<Mutex<Rank>*>(it)); },
                        [](void* it) { give(*static_cast<Mutex<Rank>*>(it)); }}) {}
    HeldAcrossFork(const HeldAcrossFork&) = delete;
    HeldAcrossFork& operator=(const HeldAcrossFork&) = delete;

    struct Entry {
        int rank;
        void* mutex;
        void (*lock)(void*);
        void (*unlock)(void*);
    };

  private:
    explicit HeldAcrossFork(const Entry& entry) noexcept;
    template <class Mutex>
    static void take(Mutex& mutex) PLEXUS_NO_THREAD_SAFETY {
        mutex.lock();
    }
    template <class Mutex>
    static void give(Mutex& mutex) PLEXUS_NO_THREAD_SAFETY {
        mutex.unlock();
    }
};

} // namespace plexus
