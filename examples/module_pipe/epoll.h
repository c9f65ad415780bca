// SPDX-License-Identifier: BSD-3-Clause
// One epoll descriptor holds every socket of a context, and an event counter for requests of other threads. A
// thread can sleep on that descriptor.
#pragma once

#include "place.h"

#include <cstdint>
#include <span>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace pipes {

class Epoll {
  public:
    /// False, and errno, if it failed.
    bool open() {
        epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
        wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        return epoll_ && wake_ && watch(wake_.get(), nullptr, EPOLLIN, true);
    }
    int fd() const { return epoll_.get(); }

    /// `who` comes back with the events; null is kept for wake().
    bool watch(int fd, void* who, std::uint32_t events, bool is_new) const {
        epoll_event event{};
        event.events = events;
        event.data.ptr = who;
        return ::epoll_ctl(epoll_.get(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) == 0;
    }
    /// Said aloud, for a process that was forked may hold the socket open.
    void unwatch(int fd) const { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

    /// The next look() has an event of nobody. @thread any
    void wake() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t rung = ::write(wake_.get(), &one, sizeof one);
    }
    void end_wake() const {
        std::uint64_t rings = 0;
        [[maybe_unused]] const ssize_t heard = ::read(wake_.get(), &rings, sizeof rings);
    }

    /// What has happened, without waiting.
    std::span<const epoll_event> look(std::span<epoll_event> room) const {
        const int count = ::epoll_wait(epoll_.get(), room.data(), static_cast<int>(room.size()), 0);
        return room.first(count > 0 ? static_cast<std::size_t>(count) : 0);
    }

  private:
    Fd epoll_;
    Fd wake_;
};

} // namespace pipes
