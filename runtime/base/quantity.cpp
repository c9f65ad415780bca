// SPDX-License-Identifier: BSD-3-Clause
#include "base/quantity.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <span>

namespace plexus {
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
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t digits_at(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

bool is_unit(std::string_view text, const Unit& unit) noexcept {
    return std::equal(text.begin(), text.end(), unit.name.begin(), unit.name.end(),
                      [](char said, char known) { return lower(said) == known; });
}

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

    const std::string_view word = trimmed(text);
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const Unit& each) { return is_unit(word, each); });
    if (unit == units.end()) return {};
    if (has_fraction && unit->worth == 1) return {};
    if (fraction * unit->worth % scale != 0) return {};
    const std::uint64_t part = fraction * unit->worth / scale;
    if (whole > (kMax - part) / unit->worth) return {};
    return whole * unit->worth + part;
}

std::string with_largest(std::uint64_t value, std::initializer_list<Unit> units) {
    for (const Unit& unit : units)
        if (value >= unit.worth && value % unit.worth == 0)
            return std::to_string(value / unit.worth) + " " + std::string(unit.name);
    return std::to_string(value);
}

} // namespace

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::optional<std::uint64_t> size_in(std::string_view text) { return quantity(text, kSizes); }

std::optional<std::chrono::nanoseconds> duration_in(std::string_view text) {
    if (trimmed(text) == "0") return std::chrono::nanoseconds{0};
    const auto ns = quantity(text, kDurations);
    if (!ns || *ns > kMaxDuration) return {};
    return std::chrono::nanoseconds{static_cast<std::int64_t>(*ns)};
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

} // namespace plexus
