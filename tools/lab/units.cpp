// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/units.h"

#include "runtime/base/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace plexus::tools::lab {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};
constexpr std::array<Unit, 4> kRates{{{"b/s", 1}, {"kb/s", 1e3}, {"Mb/s", 1e6}, {"Gb/s", 1e9}}};
constexpr std::array<Unit, 4> kTimes{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

constexpr double kMostBitsPerSecond = 1e12;
constexpr double kLongestNs = 60e9;

std::optional<double> parse(std::string_view text, const std::array<Unit, 4>& units) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (text.starts_with(' ')) text.remove_prefix(1);
    for (const Unit& unit : units)
        if (text == unit.name) return number * unit.factor;
    return std::nullopt;
}

std::string show(double value, const std::array<Unit, 4>& units) {
    std::size_t i = units.size() - 1;
    while (i > 0 && value < units[i].factor) --i;
    return fmt::format("{:.5g} {}", value / units[i].factor, units[i].name);
}

} // namespace

std::optional<std::uint64_t> parse_rate(std::string_view text) {
    const auto rate = parse(text, kRates);
    if (!rate || *rate < 1 || *rate > kMostBitsPerSecond) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(*rate));
}

std::optional<Time> parse_time(std::string_view text) {
    const auto time = parse(text, kTimes);
    if (!time || *time < 0 || *time > kLongestNs) return std::nullopt;
    return Time(std::llround(*time));
}

std::optional<std::uint64_t> parse_queue(std::string_view text) {
    if (trimmed(text).ends_with('b')) return std::nullopt;
    return size_in(text);
}

std::string show_rate(std::uint64_t bits_per_second) {
    return bits_per_second == 0 ? "without limit" : show(static_cast<double>(bits_per_second), kRates);
}

std::string show_time(Time time) { return show(static_cast<double>(time.count()), kTimes); }

} // namespace plexus::tools::lab
