// SPDX-License-Identifier: BSD-3-Clause
// Finds UTF-8 characters in arbitrary bytes (RFC 3629). Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace plexus {

/// The bytes of the UTF-8 character at the start of `text`, which is not empty; 0: there is no character.
inline std::size_t utf8_character(std::string_view text) noexcept {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = byte(0);
    const std::size_t size = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
    if (size == 0 || size > text.size()) return 0;
    for (std::size_t at = 1; at < size; ++at)
        if ((byte(at) & 0xc0) != 0x80) return 0;
    const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool outside = (lead == 0xed && byte(1) >= 0xa0) || (lead == 0xf4 && byte(1) >= 0x90);
    return overlong || outside ? 0 : size;
}

} // namespace plexus
