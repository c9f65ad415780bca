// SPDX-License-Identifier: BSD-3-Clause
// What other threads ask the progress thread to do with a link, and the eventfd that wakes it.
#pragma once

#include "base/event_fd.h"
#include "base/lock.h"
#include "message_link/port.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace plexus::message_link {

class Link;

struct Note {
    enum class What : std::uint8_t { connect, give_up, want_room, carry, broken };
    What what;
    Link* link;
};

class Notes final : public Waker {
  public:
    /// Errno, or 0. @thread setup
    int open();
    int wake_fd() const noexcept { return wake_.get(); }

    // @thread any, also under a port's lock
    void leave(const Note& note);
    void wake() override;

    // @thread progress
    bool any() const noexcept { return any_.load(std::memory_order_relaxed); } // [any]
    std::vector<Note> take();
    /// Before a sleep. False: there are some.
    bool arm();
    void disarm();
    void forget(const Link& link);

  private:
    void ring() PLEXUS_REQUIRES(mutex_);

    // [any] A hint that notes_ has something: a turn that misses it is followed by another, and
    // arm() asks under the lock.
    std::atomic<bool> any_{false};
    EventFd wake_;
    Mutex mutex_; // taken under a port's lock, never the other way
    std::vector<Note> notes_ PLEXUS_GUARDED_BY(mutex_);
    bool armed_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::message_link
