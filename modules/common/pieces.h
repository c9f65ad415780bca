// SPDX-License-Identifier: BSD-3-Clause
// A message as the host gives it to a method: pieces that travel as one. Pure functions.
#pragma once

#include "plexus/module/abi.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace plexus::module {

using Pieces = std::span<const plexus_view>;

/// Bytes of the whole message.
inline std::uint64_t size_of(Pieces pieces) noexcept {
    std::uint64_t size = 0;
    for (const plexus_view& piece : pieces) size += piece.size;
    return size;
}

/// Copies the whole message to `to`. Returns the end of the copy. Empty pieces may be null.
inline std::byte* copy_pieces(std::byte* to, Pieces pieces) noexcept {
    for (const plexus_view& piece : pieces) {
        if (piece.size > 0) std::memcpy(to, piece.data, piece.size);
        to += piece.size;
    }
    return to;
}

} // namespace plexus::module
