// SPDX-License-Identifier: BSD-3-Clause
// Memory for one message. Large pieces are kept for the next message: fresh ones would be
// pages that the kernel has to clear, which takes longer than to copy them. Pieces of 32 MiB and more, which
// nobody keeps, are of huge pages, where the system has some. @thread any
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace plexus {

struct BufferEnd {
    void operator()(std::byte* start) const noexcept;
};
/// Starts at a multiple of 16 bytes; its content is what it was.
using Buffer = std::unique_ptr<std::byte[], BufferEnd>;

/// Null: there is no memory.
Buffer make_buffer(std::size_t bytes) noexcept;

/// How much is kept by this process at most, and how much it keeps now.
inline constexpr std::size_t kMostKeptBytes = 32 * 1024 * 1024;
std::size_t kept_bytes() noexcept;

} // namespace plexus
