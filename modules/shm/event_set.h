// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that a module sleeps on: an epoll set whose events say what they are about. @thread
// progress
#pragma once

#include "base/unique_fd.h"

#include <cstdint>
#include <sys/epoll.h>

namespace plexus::shm {

class EventSet {
  public:
    /// False: errno says why.
    bool open() noexcept {
        epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
        return static_cast<bool>(epoll_);
    }
    /// Readable as soon as wait() would find something.
    int fd() const noexcept { return epoll_.get(); }

    /// `tag` comes back in the events. False: errno says why.
    bool watch(int fd, std::uint64_t tag) noexcept {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP;
        event.data.u64 = tag;
        return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    }
    /// Before a descriptor is closed: a forked child may hold it too, and would keep it in the set.
    void unwatch(int fd) noexcept {
        if (fd >= 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    }
    /// What there is now, at most `count` events. How many.
    int look(epoll_event* events, int count) noexcept { return ::epoll_wait(epoll_.get(), events, count, 0); }

  private:
    UniqueFd epoll_;
};

} // namespace plexus::shm
