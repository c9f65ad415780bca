// SPDX-License-Identifier: BSD-3-Clause
// Owns one file descriptor.
#pragma once

#include <unistd.h>
#include <utility>

namespace plexus::tools::lab {

class OwnedFd {
  public:
    OwnedFd() = default;
    explicit OwnedFd(int fd) noexcept
      : fd_(fd) {}
    OwnedFd(OwnedFd&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
    OwnedFd& operator=(OwnedFd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~OwnedFd() { reset(); }

    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    void reset() noexcept {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_ = -1;
};

} // namespace plexus::tools::lab
