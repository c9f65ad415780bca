// SPDX-License-Identifier: BSD-3-Clause
// Data that shrinks and data that does not, and one-piece messages. Pure functions.
#pragma once

#include "support/bare_host.h"

#include <cstring>
#include <random>

namespace plexus::testing {

inline Bytes noise(std::size_t size, std::uint64_t seed = 1) {
    Bytes made(size);
    std::mt19937_64 dice(seed);
    for (std::size_t at = 0; at < size; at += 8) {
        const std::uint64_t number = dice();
        std::memcpy(made.data() + at, &number, std::min<std::size_t>(8, size - at));
    }
    return made;
}

/// Like a field of a model: neighbours differ little.
inline Bytes field(std::size_t size) {
    Bytes made(size);
    for (std::size_t at = 0; at < size; ++at) made[at] = static_cast<std::byte>(at % 64 == 0 ? at / 64 : 7);
    return made;
}

inline plexus_view view_of(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

} // namespace plexus::testing
