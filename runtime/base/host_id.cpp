// SPDX-License-Identifier: BSD-3-Clause
#include "base/host_id.h"

#include <cctype>
#include <fstream>
#include <string>

namespace plexus {

std::array<std::uint8_t, 16> host_id() {
    std::string text; // "8d282f24-00ce-...", 32 digits with dashes between
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
    std::erase(text, '-');
    std::array<std::uint8_t, 16> id{};
    if (text.size() != 2 * id.size()) return id;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (std::isxdigit(c) == 0) return {};
        const int digit = std::isdigit(c) != 0 ? c - '0' : std::tolower(c) - 'a' + 10;
        id[i / 2] = static_cast<std::uint8_t>(id[i / 2] << 4 | digit);
    }
    return id;
}

} // namespace plexus
