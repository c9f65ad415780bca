// SPDX-License-Identifier: BSD-3-Clause
// How a message travels that is not sent as it is. A message that is sent as it is has no mark and
// nothing added; one that by chance begins with the mark is sent stored. Pure functions.
//
//     8 bytes  the mark
//     8 bytes  little-endian: size of the message in the low 56 bits; then 7 bits for the size of its
//              head; the top bit: stored
//     …        the head
//     …        the rest: one zstd frame, or as it is if stored
#pragma once

#include "common/pieces.h"
#include "plexus/module/module.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plexus::zstd {

inline constexpr std::size_t kPrefix = 16;
inline constexpr std::array<std::uint8_t, 8> kMark{0xb5, 'p', 'l', 'x', 'z', 's', 't', 0x91};

using module::Pieces;
using module::size_of;

/// Bytes of piece 0 that travel as the head.
std::size_t head_of(Pieces pieces) noexcept;
/// Copies `out.size()` bytes of the message, from `from` on. The message must have them.
void copy_out(Pieces pieces, std::size_t from, std::span<std::byte> out) noexcept;
/// The message would be taken for a frame of ours.
bool begins_with_mark(Pieces pieces) noexcept;
bool has_mark(std::span<const std::byte> bytes) noexcept;

struct Prefix {
    std::uint64_t size = 0; ///< of the message
    std::size_t head = 0;   ///< of it
    bool is_stored = false;
};

void write_prefix(std::byte* out, const Prefix& prefix) noexcept;
/// Reads the prefix of a frame of `frame_size` bytes, for a receiver that takes messages up to `most`
/// bytes. Null, or what is wrong with it. `bytes` has at least kPrefix.
const char* read_prefix(std::span<const std::byte> bytes, std::uint64_t frame_size, std::uint64_t most,
                        Prefix& prefix) noexcept;

} // namespace plexus::zstd
