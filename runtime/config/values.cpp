// SPDX-License-Identifier: BSD-3-Clause
// The grammars of single values: numbers with units, words, lists. Pure functions.
#include "base/log.h"
#include "config/names.h"
#include "config/settings.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace plexus::config {

Result<std::uint64_t> parse_size(std::string_view text) {
    if (const auto bytes = size_in(text)) return *bytes;
    return fail(Status::bad_config,
                "\"{}\" is no size: write bytes, or a number with KiB, MiB, GiB or TiB, such as \"4 MiB\"",
                text);
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    if (const auto duration = duration_in(text)) return *duration;
    return fail(Status::bad_config,
                "\"{}\" is no duration: write a number with ns, us, ms, s, min or h, such as \"50 us\"",
                text);
}

Result<bool> parse_boolean(std::string_view text) {
    const std::string word = lower(trimmed(text));
    for (const char* yes : {"true", "yes", "on", "1"})
        if (word == yes) return true;
    for (const char* no : {"false", "no", "off", "0"})
        if (word == no) return false;
    return fail(Status::bad_config, "\"{}\" is neither true nor false: write one of them", text);
}

Result<std::uint64_t> parse_count(std::string_view text) {
    const std::string_view digits = trimmed(text);
    std::uint64_t value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (!digits.empty() && end.ec == std::errc{} && end.ptr == digits.data() + digits.size()) return value;
    if (end.ec == std::errc::result_out_of_range)
        return fail(Status::bad_config, "\"{}\" is too large: write a whole number up to {}", text,
                    std::numeric_limits<std::uint64_t>::max());
    return fail(Status::bad_config, "\"{}\" is no count: write a whole number, such as 16", text);
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> pieces;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view piece = trimmed(text.substr(0, comma));
        if (!piece.empty()) pieces.emplace_back(piece);
        if (comma == std::string_view::npos) return pieces;
        text.remove_prefix(comma + 1);
    }
}

} // namespace plexus::config
