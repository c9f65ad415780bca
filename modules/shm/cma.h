// SPDX-License-Identifier: BSD-3-Clause
// Cross-memory attach: reading another process's memory with one copy, where the kernel
// permits. Knows nothing of links; whether the process behind `pid` is still the right one
// is the caller's to check, after the read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>
#include <vector>

namespace plexus::shm {

using Cookie = std::array<std::uint8_t, 16>;

/// What a process shows to peers so that they can try: random bytes, and where they lie.
struct CookieAt {
    std::uint64_t address = 0;
    Cookie cookie{};
};

/// Really reads the cookie. False: not permitted, or not that process; errno says why.
bool can_read(pid_t pid, const CookieAt& there) noexcept;

/// A list of pieces of another process's memory, read from front to back.
class RemoteBytes {
  public:
    RemoteBytes() = default;
    RemoteBytes(pid_t pid, std::vector<iovec> pieces)
      : pid_(pid)
      , pieces_(std::move(pieces)) {}

    /// Copies the next `size` bytes to `to`. False: errno says why.
    bool read(std::byte* to, std::size_t size) noexcept;

  private:
    pid_t pid_ = 0;
    std::vector<iovec> pieces_;
    std::size_t first_ = 0; // pieces before it are done
};

} // namespace plexus::shm
