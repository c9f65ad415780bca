// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/text.h"

#include "runtime/base/utf8.h"

#include <algorithm>
#include <vector>

namespace plexus::tools::show {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd"; // U+FFFD

} // namespace

std::string in_xml(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t size = utf8_character(text);
        const char first = text.front();
        const bool is_control = static_cast<unsigned char>(first) < 0x20 && first != '\t' && first != '\n';
        if (size == 0 || is_control) {
            out += kReplacement;
        } else if (first == '&') {
            out += "&amp;";
        } else if (first == '<') {
            out += "&lt;";
        } else if (first == '>') {
            out += "&gt;";
        } else if (first == '"') {
            out += "&quot;";
        } else {
            out += text.substr(0, size);
        }
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

std::string shortened(std::string_view text, std::size_t letters) {
    std::vector<std::string_view> all;
    while (!text.empty()) {
        all.push_back(text.substr(0, std::max<std::size_t>(utf8_character(text), 1)));
        text.remove_prefix(all.back().size());
    }
    std::string out;
    const std::size_t half = (letters - 1) / 2;
    for (std::size_t at = 0; at < all.size(); ++at) {
        const bool is_left_out = all.size() > letters && at >= half && at < all.size() - (letters - 1 - half);
        if (!is_left_out) out += all[at];
        if (is_left_out && at == half) out += "…";
    }
    return out;
}

std::string in_dot(std::string_view text) {
    std::string out = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') out += '\\';
        out += each;
    }
    return out + '"';
}

} // namespace plexus::tools::show
