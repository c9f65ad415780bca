// SPDX-License-Identifier: BSD-3-Clause
#include "tools/json.h"

#include <cmath>
#include <cstddef>
#include <fmt/format.h>

namespace plexus::tools::json {

namespace {

/// How many bytes the UTF-8 character at the start of `text` has; 0: it is none.
std::size_t character(std::string_view text) {
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

} // namespace

std::string quote(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t size = character(text);
        const char first = text.front();
        if (size == 0) {
            out += "\\ufffd";
        } else if (first == '"' || first == '\\') {
            out += {'\\', first};
        } else if (first == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(first) < 0x20) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(first));
        } else {
            out += text.substr(0, size);
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return out + '"';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null"; }

std::string list(const std::vector<std::string>& values) {
    return fmt::format("[{}]", fmt::join(values, ","));
}

Object& Object::raw(std::string_view key, std::string_view value) {
    if (!members_.empty()) members_ += ',';
    members_ += quote(key);
    members_ += ':';
    members_ += value;
    return *this;
}

} // namespace plexus::tools::json
