// SPDX-License-Identifier: BSD-3-Clause
// A descriptor by which one thread wakes another one that sleeps in poll(2) or epoll_wait(2).
#pragma once

#include "base/unique_fd.h"

#include <cstdint>
#include <sys/eventfd.h>

namespace plexus {

class EventFd {
  public:
    /// Empty until open().
    EventFd() = default;
    /// Opened, or empty if there is no descriptor.
    static EventFd create() noexcept {
        EventFd event;
        (void)event.open();
        return event;
    }
    /// False: errno says why there is no descriptor.
    bool open() noexcept {
        fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        return static_cast<bool>(fd_);
    }
    int get() const noexcept { return fd_.get(); }
    explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

    /// It is readable from now on. @thread any
    void wake() const noexcept { wake(fd_.get()); }
    /// The same for a descriptor that another owns, perhaps another process.
    static void wake(int fd) noexcept {
        const std::uint64_t one = 1;
        (void)!::write(fd, &one, sizeof one); // fails only if it is full, and then it is readable anyway
    }
    /// It is not readable any more, until the next wake(). @thread any
    void clear() const noexcept {
        std::uint64_t count = 0;
        (void)!::read(fd_.get(), &count, sizeof count); // EAGAIN: nobody wrote
    }

  private:
    UniqueFd fd_;
};

} // namespace plexus
