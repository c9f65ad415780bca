// SPDX-License-Identifier: BSD-3-Clause
// Owns one file descriptor of a module.
#pragma once

#include <unistd.h>
#include <utility>

namespace plexus::module {

class OwnedFd {
  public:
    OwnedFd() = default;
    explicit OwnedFd(int fd) noexcept
      : fd_(fd) {}
    OwnedFd(OwnedFd&& other) noexcept
      : fd_(other.release()) {}
    OwnedFd& operator=(OwnedFd&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~OwnedFd() { reset(); }

    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    int release() noexcept { return std::exchange(fd_, -1); }
    void reset(int fd = -1) noexcept {
        if (fd_ >= 0) ::close(fd_);
        fd_ = fd;
    }

  private:
    int fd_ = -1;
};

} // namespace plexus::module
