// SPDX-License-Identifier: BSD-3-Clause
// A module's private mutex, with the annotations by which clang checks who holds what. It
// ranks after every lock of the runtime (a host may hold its lock of a link when it calls),
// is never held while a callback of the host runs, and never together with another of its
// kind unless the holder says so.
#pragma once

#include <mutex>

#if defined(__clang__)
#define PLEXUS_MODULE_ANNOTATION(x) __attribute__((x))
#else
#define PLEXUS_MODULE_ANNOTATION(x)
#endif
#define PLEXUS_MODULE_GUARDED_BY(m) PLEXUS_MODULE_ANNOTATION(guarded_by(m))
#define PLEXUS_MODULE_REQUIRES(...) PLEXUS_MODULE_ANNOTATION(requires_capability(__VA_ARGS__))
#define PLEXUS_MODULE_TRY_ACQUIRE(...) PLEXUS_MODULE_ANNOTATION(try_acquire_capability(__VA_ARGS__))

namespace plexus::module {

class PLEXUS_MODULE_ANNOTATION(capability("mutex")) Mutex {
  public:
    void lock() PLEXUS_MODULE_ANNOTATION(acquire_capability()) { mutex_.lock(); }
    /// False: another thread holds it.
    bool try_lock() PLEXUS_MODULE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
    void unlock() PLEXUS_MODULE_ANNOTATION(release_capability()) { mutex_.unlock(); }

  private:
    std::mutex mutex_;
};

class PLEXUS_MODULE_ANNOTATION(scoped_lockable) Lock {
  public:
    explicit Lock(Mutex& mutex) PLEXUS_MODULE_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
        mutex_.lock();
    }
    ~Lock() PLEXUS_MODULE_ANNOTATION(release_capability()) { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    Mutex& mutex_;
};

} // namespace plexus::module
