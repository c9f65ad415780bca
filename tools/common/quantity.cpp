// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/quantity.h"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace plexus::tools {

namespace {

constexpr std::array<std::pair<std::string_view, unsigned>, 5> kUnits{
    {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};

} // namespace

std::string show_size(std::uint64_t bytes) {
    for (std::size_t at = kUnits.size() - 1; at > 1; --at) {
        const std::uint64_t unit = std::uint64_t{1} << kUnits[at].second;
        if (bytes < unit) continue;
        if (bytes % unit == 0) return fmt::format("{} {}", bytes / unit, kUnits[at].first);
        if (bytes * 10 % unit == 0)
            return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit),
                               kUnits[at].first);
    }
    return fmt::format("{} B", bytes);
}

std::string show_count(double value) {
    if (value >= 1e9) return fmt::format("{:.3g} G", value / 1e9);
    if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
    if (value >= 1e4) return fmt::format("{:.3g} k", value / 1e3);
    return fmt::format("{:.0f}", value);
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> words;
    for (;;) {
        const std::size_t comma = text.find(',');
        words.emplace_back(trimmed(text.substr(0, comma)));
        if (comma == text.npos) return words;
        text.remove_prefix(comma + 1);
    }
}

} // namespace plexus::tools
