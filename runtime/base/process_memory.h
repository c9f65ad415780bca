// SPDX-License-Identifier: BSD-3-Clause
// Cross-memory attach: reads another process's memory with one copy, if the kernel permits it. Whether the
// process behind a number is still the right one is the caller's to check, after the read. @thread any
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace plexus {

/// Random bytes by which a process, or its memory, is recognised.
using Cookie = std::array<std::uint8_t, 16>;

/// What a process shows to others so that they can try: its cookie, and where it lies in its memory.
struct CookieAt {
    std::uint64_t address = 0;
    Cookie cookie{};
};

/// Really reads the cookie. False: not permitted, or not that process; errno says why.
bool can_read(pid_t process, const CookieAt& there) noexcept;

/// False: errno says why.
bool read_memory_of(pid_t process, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept;

/// A list of pieces of another process's memory, read from front to back.
class RemoteBytes {
  public:
    RemoteBytes() = default;
    RemoteBytes(pid_t process, std::vector<iovec> pieces)
      : process_(process)
      , pieces_(std::move(pieces)) {}

    /// Copies the next `size` bytes to `to`. False: errno says why.
    bool read(std::byte* to, std::size_t size) noexcept;

  private:
    pid_t process_ = 0;
    std::vector<iovec> pieces_;
    std::size_t first_ = 0; // pieces before it are done
};

} // namespace plexus
