// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/table_file.h"

#include "runtime/base/bounded_file.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace plexus::tools {

namespace {

std::optional<std::vector<std::byte>> from_hexadecimal(std::string_view text) {
    if (text.size() % 2 != 0) return {};
    std::vector<std::byte> bytes;
    for (; !text.empty(); text.remove_prefix(2)) {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + 2, value, 16);
        if (error != std::errc{} || end != text.data() + 2) return {};
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

bool is_method_name(std::string_view name) {
    const auto allowed = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_';
    };
    return !name.empty() && name.size() <= 31 && std::all_of(name.begin(), name.end(), allowed);
}

bool is_row_name(std::string_view name) {
    const std::size_t colon = std::min(name.find(':'), name.size());
    return is_method_name(name.substr(0, colon)) &&
           (colon == name.size() || is_method_name(name.substr(colon + 1)));
}

} // namespace

std::string hexadecimal(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const std::byte each : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
    return text;
}

std::string write_table(const DescriptorTable& table) {
    std::string text;
    for (const Descriptor& row : table) text += fmt::format("{} {}\n", row.method, hexadecimal(row.bytes));
    return text;
}

std::optional<DescriptorTable> read_table(std::string_view text, std::string* why) {
    DescriptorTable table;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        const std::size_t blank = std::min(line.find(' '), line.size());
        const auto bytes = from_hexadecimal(line.substr(std::min(blank + 1, line.size())));
        if (!is_row_name(line.substr(0, blank)) || !bytes || table.size() == DescriptorTable::kMaxRows) {
            *why = table.size() == DescriptorTable::kMaxRows
                       ? fmt::format("it has more than {} rows", DescriptorTable::kMaxRows)
                       : fmt::format("line {} is not a method and its descriptor in hexadecimal", number);
            return {};
        }
        table.push_back({std::string(line.substr(0, blank)), *bytes, {}});
    }
    if (table.empty()) *why = "it has no row";
    return table.empty() ? std::nullopt : std::optional(std::move(table));
}

std::vector<std::byte> read_file(const std::string& path) {
    constexpr std::size_t kLargest = std::size_t{1} << 20;
    const std::string text =
        read_bounded_file(path, kLargest, "is larger than a megabyte: that is no table and no pointer");
    std::vector<std::byte> out(text.size());
    std::transform(text.begin(), text.end(), out.begin(),
                   [](char each) { return static_cast<std::byte>(each); });
    return out;
}

} // namespace plexus::tools
