// SPDX-License-Identifier: BSD-3-Clause
// Copies the pieces of a small message into one place with a few fixed-size moves: for the sizes of a request
// a call of memcpy, as in common/pieces.h, costs more than the copy.
#pragma once

#include "plexus/module/abi.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace plexus::shm {

/// At most 64 bytes. The moves overlap where the size lies between two powers of two.
inline void copy_small(std::byte* to, const void* from_, std::size_t size) noexcept {
    const auto* from = static_cast<const std::byte*>(from_);
    if (size >= 16) {
        std::memcpy(to, from, 16);
        if (size > 32) {
            std::memcpy(to + 16, from + 16, 16);
            if (size > 48) std::memcpy(to + 32, from + 32, 16);
        }
        std::memcpy(to + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
        std::memcpy(to, from, 8);
        std::memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        std::memcpy(to, from, 4);
        std::memcpy(to + size - 4, from + size - 4, 4);
    } else if (size > 0) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

inline void gather_small(std::byte* to, const plexus_view* pieces, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        copy_small(to, pieces[i].data, pieces[i].size);
        to += pieces[i].size;
    }
}

} // namespace plexus::shm
