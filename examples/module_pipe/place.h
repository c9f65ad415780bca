// SPDX-License-Identifier: BSD-3-Clause
// The place of a context for this method: the abstract Unix socket (unix(7)) that the context listens on.
// Such a name has no file and ends with the process, however the process ends. The name is valid in one
// network namespace of one boot of one machine, and here for one user only. Any thread.
#pragma once

#include <plexus/module/module.h>

#include <string>
#include <unistd.h>
#include <utility>

namespace pipes {

/// Owns a descriptor.
class Fd {
  public:
    explicit Fd(int fd = -1)
      : fd_(fd) {}
    Fd(Fd&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_); // `other` closes what was here
        return *this;
    }
    ~Fd() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

/// What travels in pointers, as five words: "pipe1 <boot> <network> <user> <name>".
struct Place {
    std::string boot, network, user, name;

    /// This process, with a fresh name. False: the kernel does not tell the boot or the namespace.
    static bool here(const plexus_host& host, Place& out);
    /// False: these bytes from the wire are no place.
    static bool read(plexus_view bytes, Place& out);
    std::string text() const { return "pipe1 " + boot + ' ' + network + ' ' + user + ' ' + name; }
    /// Why a context at this place can't be reached from `other`; null if it can.
    const char* why_not_from(const Place& other) const;

    /// Empty, and errno, if it failed. connect: EAGAIN means that the queue there is full.
    Fd listen() const;
    Fd connect() const;
};

/// Whether the process at the other end has the same user.
bool is_our_user(const Fd& socket);

} // namespace pipes
