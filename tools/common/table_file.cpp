// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/table_file.h"

#include "runtime/base/bounded_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace plexus::tools {

namespace {

// Before the rows; no method has such a name.
constexpr std::string_view kSite = "@site";
constexpr std::string_view kHost = "@host";

std::vector<std::byte> bytes_of(const std::array<std::uint8_t, 16>& host) {
    const auto* const first = reinterpret_cast<const std::byte*>(host.data());
    return {first, first + host.size()};
}

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
    const Place& place = table.place();
    std::string text;
    if (!place.site.empty()) text += fmt::format("{} {}\n", kSite, place.site);
    if (place.host != Place{}.host) text += fmt::format("{} {}\n", kHost, hexadecimal(bytes_of(place.host)));
    for (const Descriptor& row : table)
        text += fmt::format("{} {}{}{}\n", row.method, hexadecimal(row.bytes), row.within.empty() ? "" : " ",
                            row.within);
    return text;
}

namespace {

// A line of a table; false: it is none.
bool read_line(std::string_view line, DescriptorTable& table) {
    const auto word = [&] {
        const std::size_t blank = std::min(line.find(' '), line.size());
        const std::string_view first = line.substr(0, blank);
        line.remove_prefix(std::min(blank + 1, line.size()));
        return first;
    };
    const std::string_view name = word();
    Place place = table.place();
    if (name == kSite) {
        place.site = line;
        table.set_place(std::move(place));
        return !line.empty();
    }
    const auto bytes = from_hexadecimal(word());
    if (!bytes) return false;
    if (name == kHost) {
        if (bytes->size() != place.host.size()) return false;
        std::memcpy(place.host.data(), bytes->data(), bytes->size());
        table.set_place(std::move(place));
        return true;
    }
    if (!is_row_name(name)) return false;
    table.push_back({std::string(name), *bytes, {}, std::string(line)});
    return true;
}

} // namespace

std::optional<DescriptorTable> read_table(std::string_view text, std::string* why) {
    DescriptorTable table;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        const bool full = table.size() == DescriptorTable::kMaxRows;
        if (full || !read_line(line, table)) {
            *why = full ? fmt::format("it has more than {} rows", DescriptorTable::kMaxRows)
                        : fmt::format("line {} is not a method and its descriptor in hexadecimal", number);
            return {};
        }
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
