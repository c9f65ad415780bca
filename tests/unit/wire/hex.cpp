// SPDX-License-Identifier: BSD-3-Clause
#include "hex.h"

#include <stdexcept>

namespace plexus::testing {

wire::Bytes bytes_of(std::string_view hex) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    wire::Bytes bytes;
    int high = -1;
    for (const char c : hex) {
        if (c == ' ') continue;
        const auto digit = kDigits.find(c);
        if (digit == std::string_view::npos) throw std::invalid_argument("not a hexadecimal digit");
        if (high < 0) {
            high = static_cast<int>(digit);
        } else {
            bytes.push_back(static_cast<std::byte>(high * 16 + static_cast<int>(digit)));
            high = -1;
        }
    }
    if (high >= 0) throw std::invalid_argument("half a byte");
    return bytes;
}

std::string hex_of(wire::View bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const std::byte b : bytes) {
        hex += kDigits[static_cast<std::size_t>(b) >> 4];
        hex += kDigits[static_cast<std::size_t>(b) & 15];
    }
    return hex;
}

} // namespace plexus::testing
