// SPDX-License-Identifier: BSD-3-Clause
// Copies the pieces of a message into one place. Small ones with a few fixed-size moves:
// for the sizes of a request a call of memcpy costs more than the copy.
#pragma once

#include "plexus/module/abi.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

inline void gather(std::byte* to, const plexus_view* pieces, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        if (pieces[i].size > 0) std::memcpy(to, pieces[i].data, pieces[i].size);
        to += pieces[i].size;
    }
}

/// Copies past the caches, where the machine can: `to` is written to memory at once. A
/// reader on a core that shares no cache with this one gets such bytes up to ten times
/// faster than bytes that are dirty in our cache; one that shares a cache loses less than half.
/// Call flush_past_caches() before the bytes are published.
inline void copy_past_caches(std::byte* to, const std::byte* from, std::size_t size) noexcept {
#if defined(__SSE2__)
    constexpr std::size_t kLine = 64;
    const std::size_t before = std::min(size, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
    if (before > 0) std::memcpy(to, from, before);
    std::size_t at = before;
    for (; at + kLine <= size; at += kLine) { // whole lines: a part of one would be written twice
        __m128i part[4];
        std::memcpy(part, from + at, kLine);
        auto* const line = reinterpret_cast<__m128i*>(to + at);
        for (int i = 0; i < 4; ++i) _mm_stream_si128(line + i, part[i]);
    }
    if (at < size) std::memcpy(to + at, from + at, size - at);
#else
    if (size > 0) std::memcpy(to, from, size);
#endif
}

inline void flush_past_caches() noexcept {
#if defined(__SSE2__)
    _mm_sfence(); // such stores are not ordered by a release
#endif
}

} // namespace plexus::shm
