// SPDX-License-Identifier: BSD-3-Clause
// Numbers as they travel: little-endian, at any address. Pure functions.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace plexus::module {

template <std::unsigned_integral Number>
Number wire_order(Number value) noexcept {
    if constexpr (std::endian::native == std::endian::little) return value;
    Number turned = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        turned = static_cast<Number>(turned << 8 | (value >> 8 * i & 0xff));
    return turned;
}

template <std::unsigned_integral Number>
void store(std::uint8_t* out, Number value) noexcept {
    const Number ordered = wire_order(value);
    std::memcpy(out, &ordered, sizeof ordered);
}

template <std::unsigned_integral Number>
Number load(const std::uint8_t* from) noexcept {
    Number value;
    std::memcpy(&value, from, sizeof value);
    return wire_order(value);
}

} // namespace plexus::module
