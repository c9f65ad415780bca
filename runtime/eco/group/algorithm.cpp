// SPDX-License-Identifier: BSD-3-Clause
// The words for a pattern.
#include "plexus/eco/algorithm.h"

#include "group/agreement.h"
#include "plexus/wire_type.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace plexus::eco {
namespace {

template <class Number>
std::optional<Number> positive(std::string_view digits) {
    Number value{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value == 0) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> bytes_of(std::string_view text) {
    constexpr std::pair<std::string_view, unsigned> kUnits[] = {
        {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}};
    unsigned shift = 0;
    for (const auto& [unit, more] : kUnits) {
        if (!text.ends_with(unit)) continue;
        text.remove_suffix(unit.size());
        shift = more;
        break;
    }
    const auto count = positive<std::uint64_t>(text);
    if (!count || *count > (UINT64_MAX >> 1) >> shift) return std::nullopt;
    return *count << shift;
}

} // namespace

Algorithm Algorithm::by(std::shared_ptr<const GroupSchedule> schedule) {
    Algorithm algorithm;
    algorithm.schedule_number_ = 0xcbf29ce484222325ull;
    for (const std::uint32_t word : detail::words_of(*schedule))
        algorithm.schedule_number_ = plexus::detail::mix(algorithm.schedule_number_, word);
    algorithm.schedule_number_ |= 2; // 0, 1, 4, 6 and 8 are other algorithms
    algorithm.schedule_ = std::move(schedule);
    return algorithm;
}

std::optional<Algorithm> parse_algorithm(std::string_view text) {
    if (text == "auto") return Algorithm{};
    if (text == "eco") return Algorithm::eco();
    if (text == "memory") return Algorithm::memory();
    if (text == "messages") return Algorithm::messages();
    if (text == "multicast") return Algorithm::multicast();
    if (text == "binary") return Algorithm{Pattern::tree};
    const std::size_t colon = text.find(':');
    const auto* const found = std::find_if(std::begin(kPatterns), std::end(kPatterns), [&](Pattern each) {
        return to_string(each) == text.substr(0, colon);
    });
    if (found == std::end(kPatterns)) return std::nullopt;
    AlgorithmOptions options{*found};
    if (colon == text.npos) return options;
    const std::string_view detail = text.substr(colon + 1);
    if (options.pattern == Pattern::tree) {
        const auto arity = positive<std::uint32_t>(detail);
        if (!arity) return std::nullopt;
        options.arity = *arity;
        return options;
    }
    const auto segment = bytes_of(detail);
    if (options.pattern != Pattern::chain || !segment) return std::nullopt;
    options.segment_bytes = *segment;
    return options;
}

} // namespace plexus::eco
