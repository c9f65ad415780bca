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
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMaxDuration = std::numeric_limits<std::int64_t>::max();

struct Unit {
    std::string_view name; ///< lower case
    std::uint64_t worth;
};

constexpr Unit kSizes[] = {
    {"", 1},
    {"b", 1},
    {"k", 1ull << 10},
    {"kib", 1ull << 10},
    {"m", 1ull << 20},
    {"mib", 1ull << 20},
    {"g", 1ull << 30},
    {"gib", 1ull << 30},
    {"t", 1ull << 40},
    {"tib", 1ull << 40},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
};
constexpr Unit kDurations[] = {
    {"ns", 1},
    {"us", 1'000},
    {"µs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"min", 60'000'000'000},
    {"h", 3'600'000'000'000},
};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::size_t digits_at(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

// "12", "1.5 GiB": whole digits, perhaps a fraction, perhaps spaces, a unit. Nothing if it is
// not that, or does not fit.
std::optional<std::uint64_t> quantity(std::string_view text, std::span<const Unit> units) {
    constexpr std::size_t kFractionDigits = 6; // keeps digits * largest unit within 64 bits
    text = trimmed(text);
    const std::size_t whole_digits = digits_at(text);
    std::uint64_t whole = 0;
    if (std::from_chars(text.data(), text.data() + whole_digits, whole).ec != std::errc{}) return {};
    text.remove_prefix(whole_digits);

    std::uint64_t fraction = 0;
    std::uint64_t scale = 1;
    const bool has_fraction = !text.empty() && text.front() == '.';
    if (has_fraction) {
        text.remove_prefix(1);
        const std::size_t digits = digits_at(text);
        if (digits == 0 || digits > kFractionDigits) return {};
        std::from_chars(text.data(), text.data() + digits, fraction);
        for (std::size_t i = 0; i < digits; ++i) scale *= 10;
        text.remove_prefix(digits);
    }

    const std::string word = lower(trimmed(text));
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == word; });
    if (unit == units.end()) return {};
    if (has_fraction && unit->worth == 1) return {};
    const std::uint64_t part = fraction * unit->worth / scale;
    if (whole > (kMax - part) / unit->worth) return {};
    return whole * unit->worth + part;
}

std::string with_largest(std::uint64_t value, std::initializer_list<Unit> units) {
    for (const Unit& unit : units)
        if (value >= unit.worth && value % unit.worth == 0)
            return fmt::format("{}{}{}", value / unit.worth, unit.name.empty() ? "" : " ", unit.name);
    return std::to_string(value);
}

} // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
    if (const auto bytes = quantity(text, kSizes)) return *bytes;
    return fail(Status::bad_config,
                "\"{}\" is no size: write bytes, or a number with KiB, MiB, GiB or TiB, such as \"4 MiB\"",
                text);
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    if (trimmed(text) == "0") return std::chrono::nanoseconds{0};
    const auto ns = quantity(text, kDurations);
    if (ns && *ns <= kMaxDuration) return std::chrono::nanoseconds{static_cast<std::int64_t>(*ns)};
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
        return fail(Status::bad_config, "\"{}\" is too large: write a whole number up to {}", text, kMax);
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

std::string size_text(std::uint64_t bytes) {
    return with_largest(bytes,
                        {{"TiB", 1ull << 40}, {"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}});
}

std::string duration_text(std::chrono::nanoseconds duration) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
    return with_largest(ns, {{"h", 3'600'000'000'000},
                             {"min", 60'000'000'000},
                             {"s", 1'000'000'000},
                             {"ms", 1'000'000},
                             {"us", 1'000},
                             {"ns", 1}});
}

} // namespace plexus::config
