// SPDX-License-Identifier: BSD-3-Clause
// libzstd behind two classes: bytes in, bytes out, within room of a size that the caller gives.
#pragma once

#include "zstd/frame.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace plexus::zstd {

/// One user at a time.
class Packer {
  public:
    explicit Packer(int level);
    ~Packer();
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;

    /// Packs a message without its first `head` bytes into `out`. Returns the bytes used; nothing: it
    /// does not fit, or there is no memory.
    std::optional<std::size_t> pack(Pieces pieces, std::size_t head, std::span<std::byte> out);

  private:
    std::optional<std::size_t> pack_pieces(Pieces pieces, std::size_t head, std::span<std::byte> out);

    ZSTD_CCtx_s* context_;
};

/// One user at a time.
class Unpacker {
  public:
    Unpacker();
    ~Unpacker();
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    /// Null: `packed` is one zstd frame that says it holds so many bytes as `out` has room for. Else what
    /// is wrong. Looks at the headers only, unpacks nothing.
    static const char* fault_of(std::span<const std::byte> packed, std::uint64_t bytes) noexcept;
    /// Fills `out`, and writes nowhere else. Null, or what is wrong with `packed`.
    const char* unpack(std::span<const std::byte> packed, std::span<std::byte> out) noexcept;

  private:
    ZSTD_DCtx_s* context_;
};

} // namespace plexus::zstd
