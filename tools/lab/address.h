// SPDX-License-Identifier: BSD-3-Clause
// The addresses in a lab: one network of 10.77.0.0/16, and Ethernet addresses that hold the
// host's number, so that the switch need not learn. The lab itself, where the launcher is,
// has a number of its own. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace plexus::tools::lab {

using EthernetAddress = std::array<std::uint8_t, 6>;

/// The number of the machine that the lab runs on: frames to and from it take no wire.
inline constexpr std::uint32_t kLabNumber = 0xffff;
inline constexpr std::uint32_t kNetMask = 0xffff0000; // of 10.77.0.0/16

/// In the machine's byte order.
constexpr std::uint32_t ip_of(std::uint32_t number) {
    constexpr std::uint32_t kNet = 10U << 24 | 77U << 16;
    constexpr std::uint32_t kBlock = 250; // no address that ends in 0 or 255
    if (number == kLabNumber) return kNet | 255U << 8 | 1U;
    return kNet | number / kBlock << 8 | (number % kBlock + 1);
}

constexpr EthernetAddress ethernet_of(std::uint32_t number) {
    return {0x02, 'p', 'l', 'x', static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
}

/// The number in an address of ours; `bytes` has six.
constexpr std::optional<std::uint32_t> number_in(const std::uint8_t* bytes) {
    const EthernetAddress any = ethernet_of(0);
    for (std::size_t i = 0; i < 4; ++i)
        if (bytes[i] != any[i]) return std::nullopt;
    return static_cast<std::uint32_t>(bytes[4]) << 8 | bytes[5];
}

inline std::string dotted(std::uint32_t ip) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) {
        text += std::to_string(ip >> shift & 255);
        if (shift > 0) text += '.';
    }
    return text;
}

} // namespace plexus::tools::lab
