// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/markup.h"

#include "runtime/base/utf8.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace plexus::tools {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd"; // U+FFFD
constexpr char kLight[] =
    "--paper: #ffffff; --ink: #1c2330; --soft: #5b6577; --line: #b9c1ce; --box: #f3f5f9; "
    "--host: #ffffff; --near: #0072b2; --far: #c2500a;";
constexpr char kDark[] =
    "--paper: #14181f; --ink: #e8ecf3; --soft: #a5afbf; --line: #485264; --box: #1e242e; "
    "--host: #14181f; --near: #56b4e9; --far: #f0954a;";

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

std::string in_script(std::string_view text) {
    std::string out;
    for (const char each : text) each == '<' ? out += "\\u003c" : out += each; // JSON has it in strings alone
    return out;
}

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
    const std::size_t at = text.find(mark);
    return text.replace(at, mark.size(), by);
}

std::string palette(std::string_view element) {
    return fmt::format("{0} {{ {1} }}\n@media (prefers-color-scheme: dark) {{ {0} {{ {2} }} }}\n", element,
                       kLight, kDark);
}

std::string arrow_tip(std::string_view name, std::string_view colour) {
    return fmt::format(
        "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" "
        "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"var({})\"/>"
        "</marker>",
        name, colour);
}

} // namespace plexus::tools
