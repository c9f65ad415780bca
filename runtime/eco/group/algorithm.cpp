// SPDX-License-Identifier: BSD-3-Clause
// The words for a pattern.
#include "plexus/eco/algorithm.h"

#include "base/quantity.h"
#include "group/agreement.h"
#include "group/algorithm_text.h"
#include "plexus/wire_type.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
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
    // Of the ways to write a size few are a pattern's: all members have to use the same words.
    constexpr std::string_view kUnits[] = {"", "B", "KiB", "MiB", "GiB"};
    const std::string_view unit = text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
    const bool known = std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits);
    const auto bytes = known ? size_in(text) : std::nullopt;
    return bytes && *bytes > 0 && *bytes <= INT64_MAX ? bytes : std::nullopt;
}

constexpr std::string_view kLevels = "levels:";

std::optional<AlgorithmOptions> pattern(std::string_view text) {
    if (text == "binary") return AlgorithmOptions{Pattern::tree};
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

/// The widest level's first. Empty: one of them is none.
std::vector<AlgorithmOptions> patterns(std::string_view text) {
    std::vector<AlgorithmOptions> levels;
    while (true) {
        const std::size_t end = std::min(text.find('/'), text.size());
        const auto options = pattern(text.substr(0, end));
        if (!options) return {};
        levels.push_back(*options);
        if (end == text.size()) return levels;
        text.remove_prefix(end + 1);
    }
}

std::optional<ScheduleRule> rule(std::string_view text) {
    const auto* const found = std::find_if(std::begin(kScheduleRules), std::end(kScheduleRules),
                                           [&](ScheduleRule each) { return to_string(each) == text; });
    return found == std::end(kScheduleRules) ? std::nullopt : std::optional(*found);
}

/// Nothing: no text means these options.
std::optional<std::string> text_of(const AlgorithmOptions& options) {
    if (options.halve_from_bytes != AlgorithmOptions().halve_from_bytes) return std::nullopt;
    const std::string name(to_string(options.pattern));
    if (options.segment_bytes != 0 && options.pattern != Pattern::chain) return std::nullopt;
    if (options.pattern == Pattern::tree) return fmt::format("{}:{}", name, options.arity);
    if (options.segment_bytes == 0) return name;
    return fmt::format("{}:{}B", name, options.segment_bytes);
}

} // namespace

std::optional<std::string> detail::text_of(const Algorithm& algorithm) {
    if (algorithm.schedule() != nullptr || algorithm.uses_memory() || algorithm.uses_multicast())
        return std::nullopt;
    if (algorithm.levels() != nullptr) {
        std::string out =
            algorithm.rule() ? std::string(to_string(*algorithm.rule())) + '/' : std::string(kLevels);
        const std::size_t first = out.size();
        for (const AlgorithmOptions& each : *algorithm.levels()) {
            const auto text = eco::text_of(each);
            if (!text) return std::nullopt;
            if (out.size() > first) out += '/';
            out += *text;
        }
        return out;
    }
    if (algorithm.uses_models()) return "models";
    if (!algorithm.options()) return "auto"; // by messages all of these follow the map
    return eco::text_of(*algorithm.options());
}

Algorithm Algorithm::by(std::shared_ptr<const GroupSchedule> schedule) {
    Algorithm algorithm(Kind::schedule);
    algorithm.schedule_number_ = 0xcbf29ce484222325ull;
    for (const std::uint32_t word : detail::words_of(*schedule))
        algorithm.schedule_number_ = plexus::detail::mix(algorithm.schedule_number_, word);
    algorithm.schedule_number_ |= 2; // 0, 1, 4, 6, 8 and 12 are other algorithms
    algorithm.schedule_ = std::move(schedule);
    return algorithm;
}

bool supports(const Algorithm& algorithm, Operation operation) noexcept {
    const auto is_supported = [&](const AlgorithmOptions& each) { return supports(each.pattern, operation); };
    if (algorithm.schedule() != nullptr) return supports(algorithm.schedule()->schedule.kind, operation);
    if (algorithm.uses_multicast()) return operation == Operation::broadcast;
    const bool scans = operation == Operation::scan || operation == Operation::exclusive_scan;
    if (algorithm.uses_models()) return !scans;
    if (algorithm.rule() && operation != Operation::broadcast && operation != Operation::reduce) return false;
    if (const auto* const levels = algorithm.levels())
        return !scans && !levels->empty() && std::all_of(levels->begin(), levels->end(), is_supported);
    return !algorithm.options() || is_supported(*algorithm.options());
}

std::optional<Algorithm> parse_algorithm(std::string_view text) {
    if (text == "auto") return Algorithm{};
    if (text == "eco") return Algorithm::eco();
    if (text == "models") return Algorithm::by_models();
    if (text == "memory") return Algorithm::memory();
    if (text == "messages") return Algorithm::messages();
    if (text == "multicast") return Algorithm::multicast();
    if (text.starts_with(kLevels)) {
        auto levels = patterns(text.substr(kLevels.size()));
        return levels.empty() ? std::nullopt : std::optional(Algorithm::by_level(std::move(levels)));
    }
    if (const std::size_t end = text.find('/'); end != text.npos) {
        const auto between = rule(text.substr(0, end));
        auto inside = patterns(text.substr(end + 1));
        if (!between || inside.empty()) return std::nullopt;
        return Algorithm::by_rule(*between, std::move(inside));
    }
    if (const auto options = pattern(text)) return Algorithm{*options};
    return std::nullopt;
}

} // namespace plexus::eco
