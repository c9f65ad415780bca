// SPDX-License-Identifier: BSD-3-Clause
#include "common/values.h"

#include <charconv>

namespace plexus::module {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view text) {
    text = trimmed(text);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

} // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    if (const auto number = whole_number(text))
        return *number <= INT64_MAX ? std::optional(std::chrono::nanoseconds(*number)) : std::nullopt;
    return duration_in(text);
}

std::optional<std::uint64_t> parse_count(std::string_view text) { return whole_number(text); }

std::optional<bool> parse_bool(std::string_view text) {
    text = trimmed(text);
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> pieces;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view piece = trimmed(text.substr(0, comma));
        if (!piece.empty()) pieces.emplace_back(piece);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return pieces;
}

std::int32_t set_at_open_only(const plexus_host& host, const char* key, plexus_text& why) {
    char room[4096];
    plexus_text value{room, sizeof room, 0};
    const bool known = host.setting(host.self, key, &value) != PLEXUS_BAD_ARGUMENT;
    write(why,
          known ? "this parameter is set when the context starts only" : "the method has no such parameter");
    return known ? PLEXUS_UNSUPPORTED : PLEXUS_BAD_ARGUMENT;
}

std::uint64_t Parameters::size(const char* key, std::uint64_t least, std::uint64_t most) {
    return between(key, size_in(text(key)), least, most, "a size such as \"64 KiB\"");
}

std::uint64_t Parameters::count(const char* key, std::uint64_t least, std::uint64_t most) {
    return between(key, parse_count(text(key)), least, most, "a whole number");
}

std::chrono::nanoseconds Parameters::duration(const char* key) {
    const auto value = parse_duration(text(key));
    if (!value) refuse(key, "a duration such as \"3 s\" or \"200 ms\"");
    return value.value_or(std::chrono::nanoseconds{0});
}

bool Parameters::boolean(const char* key) {
    const auto value = parse_bool(text(key));
    if (!value) refuse(key, "true or false");
    return value.value_or(false);
}

void Parameters::refuse(const char* key, std::string_view wanted) {
    failed_ = true;
    const std::string line = std::string(key) + " = \"" + text(key) + "\" is not " + std::string(wanted);
    host_.log(host_.self, PLEXUS_ERROR, line.c_str());
}

std::uint64_t Parameters::between(const char* key, std::optional<std::uint64_t> value, std::uint64_t least,
                                  std::uint64_t most, const char* kind) {
    if (value && *value >= least && *value <= most) return *value;
    refuse(key, std::string(kind) + " from " + std::to_string(least) + " to " + std::to_string(most));
    return least;
}

} // namespace plexus::module
