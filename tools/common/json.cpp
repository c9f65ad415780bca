// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/json.h"

#include "runtime/base/utf8.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>

namespace plexus::tools::json {

std::string quote(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t size = utf8_character(text);
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

std::string printable(std::string_view text) {
    const bool plain = std::none_of(text.begin(), text.end(), [](char each) {
        const auto byte = static_cast<unsigned char>(each);
        return byte < 0x20 || byte == 0x7f;
    });
    return plain ? std::string(text) : quote(text);
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null"; }

std::string exact(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

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
