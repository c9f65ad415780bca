// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/partition.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace plexus::eco {
namespace {

constexpr std::uint32_t kMaxTimes = 10'000; // 1,000,000 %

std::optional<std::uint32_t> whole(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

std::optional<Tolerance> ratio(std::uint64_t numerator, std::uint64_t denominator) {
    if (denominator == 0 || numerator > denominator * kMaxTimes) return {};
    const std::uint64_t common = std::gcd(numerator, denominator);
    return Tolerance{static_cast<std::uint32_t>(numerator / common),
                     static_cast<std::uint32_t>(denominator / common)};
}

} // namespace

bool Tolerance::holds(double cost, double least) const noexcept {
    // Reading, scaling and these products round at most a few times; 16 such steps are
    // still far below what a measurement can tell.
    constexpr double kAlike = 1 + 16 * std::numeric_limits<double>::epsilon();
    if (std::isinf(cost)) return false;
    const double whole_ratio = static_cast<double>(denominator) + static_cast<double>(numerator);
    return static_cast<double>(denominator) * cost <= whole_ratio * least * kAlike;
}

std::optional<Tolerance> parse_tolerance(std::string_view text) {
    if (const std::size_t slash = text.find('/'); slash != text.npos) {
        const auto above = whole(text.substr(0, slash));
        const auto below = whole(text.substr(slash + 1));
        return above && below ? ratio(*above, *below) : std::nullopt;
    }
    if (!text.ends_with('%')) return {};
    text.remove_suffix(1);
    if (text.ends_with(' ')) text.remove_suffix(1);
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::string_view decimals = text.substr(std::min(dot + 1, text.size()));
    const auto percent = whole(text.substr(0, dot));
    const auto behind = decimals.empty() ? std::uint32_t{0} : whole(decimals).value_or(UINT32_MAX);
    if (!percent || decimals.size() > 6 || behind == UINT32_MAX || text.ends_with('.')) return {};
    std::uint64_t scale = 1;
    for (std::size_t digit = 0; digit < decimals.size(); ++digit) scale *= 10;
    return ratio(*percent * scale + behind, 100 * scale);
}

std::string to_string(Tolerance tolerance) {
    const std::uint64_t percent = std::uint64_t{tolerance.numerator} * 100;
    if (percent % tolerance.denominator == 0) return fmt::format("{}%", percent / tolerance.denominator);
    return fmt::format("{}/{}", tolerance.numerator, tolerance.denominator);
}

} // namespace plexus::eco
