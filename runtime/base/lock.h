// SPDX-License-Identifier: BSD-3-Clause
// A mutex and its holder, with the annotations by which clang checks who holds what. For the runtime, modules
// and tools alike; the runtime's own mutexes have ranks (base/mutex.h).
#pragma once

#include <mutex>

#if defined(__clang__)
#define PLEXUS_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PLEXUS_THREAD_ANNOTATION(x)
#endif
#define PLEXUS_CAPABILITY(name) PLEXUS_THREAD_ANNOTATION(capability(name))
#define PLEXUS_SCOPED_CAPABILITY PLEXUS_THREAD_ANNOTATION(scoped_lockable)
#define PLEXUS_GUARDED_BY(m) PLEXUS_THREAD_ANNOTATION(guarded_by(m))
#define PLEXUS_REQUIRES(...) PLEXUS_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define PLEXUS_EXCLUDES(...) PLEXUS_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define PLEXUS_ACQUIRE(...) PLEXUS_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define PLEXUS_TRY_ACQUIRE(...) PLEXUS_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define PLEXUS_RELEASE(...) PLEXUS_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define PLEXUS_NO_THREAD_SAFETY PLEXUS_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace plexus {

/// A module's or a tool's private mutex. A module's ranks behind every lock of the runtime (a host may hold
/// its lock of a link when it calls), is never held while a callback of the host runs, and never together
/// with another of its kind unless the holder says so.
class PLEXUS_CAPABILITY("mutex") Mutex {
  public:
    void lock() PLEXUS_ACQUIRE() { mutex_.lock(); }
    /// False: another thread holds it.
    bool try_lock() PLEXUS_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
    void unlock() PLEXUS_RELEASE() { mutex_.unlock(); }

  private:
    std::mutex mutex_;
};

template <class Mutex>
class PLEXUS_SCOPED_CAPABILITY Lock {
  public:
    explicit Lock(Mutex& mutex) PLEXUS_ACQUIRE(mutex)
      : mutex_(mutex) {
        mutex_.lock();
    }
    ~Lock() PLEXUS_RELEASE() { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    Mutex& mutex_;
};

} // namespace plexus
