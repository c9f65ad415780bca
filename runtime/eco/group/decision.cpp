// SPDX-License-Identifier: BSD-3-Clause
#include "group/decision.h"

#include "plexus/wire_type.h"
#include "topology/refuse.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace plexus::eco::detail {
namespace {

std::uint64_t joined(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }
std::uint32_t high_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::uint32_t low_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

// Forms of a chosen algorithm; from kRule on one for each rule.
constexpr std::uint32_t kOnePattern = 0;
constexpr std::uint32_t kByLevel = 1;
constexpr std::uint32_t kRule = 2;
constexpr std::uint32_t kByModels = 100;

std::uint32_t form_of(const Algorithm& algorithm) {
    if (algorithm.uses_models()) return kByModels;
    if (algorithm.levels() == nullptr) return kOnePattern;
    return algorithm.rule() ? kRule + static_cast<std::uint32_t>(*algorithm.rule()) : kByLevel;
}

/// Of a form that has patterns.
std::span<const AlgorithmOptions> patterns_of(const Algorithm& algorithm) {
    if (algorithm.uses_models()) return {};
    if (const auto* const levels = algorithm.levels()) return *levels;
    return {&*algorithm.options(), 1};
}

/// The value with this number, if it is one of `all`.
template <class Value, std::size_t N>
std::optional<Value> listed(std::uint32_t number, const Value (&all)[N]) {
    const auto* const found = std::find_if(std::begin(all), std::end(all), [&](Value each) {
        return static_cast<std::uint32_t>(each) == number;
    });
    return found == std::end(all) ? std::nullopt : std::optional(*found);
}

/// Nothing: there is no such algorithm.
std::optional<Algorithm> algorithm_in(std::uint32_t form, std::span<const std::uint64_t> words) {
    std::vector<AlgorithmOptions> patterns;
    for (; !words.empty(); words = words.subspan(3)) {
        const auto pattern = listed(high_of(words[0]), kPatterns);
        if (!pattern) return std::nullopt;
        patterns.push_back({*pattern, low_of(words[0]), words[1], words[2]});
    }
    if (form == kOnePattern)
        return patterns.size() == 1 ? std::optional(Algorithm(patterns[0])) : std::nullopt;
    if (form == kByLevel) return Algorithm::by_level(std::move(patterns));
    if (form == kByModels) return patterns.empty() ? std::optional(Algorithm::by_models()) : std::nullopt;
    const auto rule = listed(form - kRule, kScheduleRules);
    return rule ? std::optional(Algorithm::by_rule(*rule, std::move(patterns))) : std::nullopt;
}

} // namespace

std::uint64_t number_of(const AdaptOptions& options) {
    using plexus::detail::mix;
    std::uint64_t number = mix(0xcbf29ce484222325ull, options.every);
    for (const double each : {options.share, options.drift, options.least_us})
        number = mix(number, std::bit_cast<std::uint64_t>(each));
    return number;
}

std::vector<std::uint64_t> to_words(std::span<const MemberPair> edges) {
    std::vector<std::uint64_t> out;
    for (const MemberPair& each : edges) out.push_back(joined(each.from, each.to));
    return out;
}

std::vector<std::uint64_t> to_words(std::span<const CostChange> changes) {
    std::vector<std::uint64_t> out;
    for (const CostChange& each : changes)
        out.insert(out.end(),
                   {each.size, joined(each.one, each.other), std::bit_cast<std::uint64_t>(each.us)});
    return out;
}

bool can_choose(const Algorithm& algorithm, Operation operation) {
    const auto* const levels = algorithm.levels();
    return supports(algorithm, operation) &&
           (levels != nullptr ? levels->size() <= kMostLevels
                              : algorithm.options().has_value() || algorithm.uses_models());
}

// Of each: operation and root; bytes; its form and the number of its patterns; three words for each pattern.
std::vector<std::uint64_t> to_words(std::span<const Choice> choices) {
    std::vector<std::uint64_t> out;
    for (const Choice& each : choices) {
        const std::span<const AlgorithmOptions> patterns = patterns_of(each.algorithm);
        const std::uint32_t form = form_of(each.algorithm);
        out.insert(out.end(), {joined(static_cast<std::uint32_t>(each.operation), each.root), each.bytes,
                               joined(form, static_cast<std::uint32_t>(patterns.size()))});
        for (const AlgorithmOptions& one : patterns)
            out.insert(out.end(), {joined(static_cast<std::uint32_t>(one.pattern), one.arity),
                                   one.segment_bytes, one.halve_from_bytes});
    }
    return out;
}

void check(const Decision& decision, const AdaptOptions& options, Rank members, const Map& map) {
    const std::uint64_t hosts = map.hosts().size();
    if (decision.edges > std::uint64_t{members} * members)
        refuse(Status::bad_archive, "adaptation: member 0 wants {} edges of {} members measured",
               decision.edges, members);
    if (decision.changes > hosts * hosts * map.sizes_bytes().size())
        refuse(Status::bad_archive, "adaptation: member 0 has {} changes for a map of {} hosts",
               decision.changes, hosts);
    if (decision.epoch > UINT32_MAX || (decision.edges == 0 && decision.calls_until_check < options.every) ||
        decision.calls_until_check > UINT32_MAX)
        refuse(Status::bad_archive, "adaptation: member 0 wants the next check after {} calls, in epoch {}",
               decision.calls_until_check, decision.epoch);
}

void check_choice_words(std::uint64_t count) {
    if (count > kMostChoices * kMostChoiceWords)
        refuse(Status::bad_archive,
               "adaptation: member 0 sends {} words of chosen algorithms; {} is the most", count,
               kMostChoices * kMostChoiceWords);
}

std::vector<MemberPair> edges_in(std::span<const std::uint64_t> words, Rank members) {
    std::vector<MemberPair> out;
    for (const std::uint64_t word : words) {
        const MemberPair edge{high_of(word), low_of(word)};
        if (edge.from >= members || edge.to >= members || edge.from == edge.to)
            refuse(Status::bad_archive, "adaptation: member 0 wants an edge measured from {} to {}",
                   edge.from, edge.to);
        out.push_back(edge);
    }
    return out;
}

std::vector<CostChange> changes_in(std::span<const std::uint64_t> words, const Map& map) {
    const std::uint64_t hosts = map.hosts().size();
    std::vector<CostChange> out;
    for (; words.size() >= kChangeWords; words = words.subspan(kChangeWords)) {
        const CostChange change{low_of(words[0]), high_of(words[1]), low_of(words[1]),
                                std::bit_cast<double>(words[2])};
        if (words[0] >= map.sizes_bytes().size() || change.one >= hosts || change.other >= hosts ||
            change.one == change.other || !std::isfinite(change.us) || change.us < 0)
            refuse(Status::bad_archive, "adaptation: member 0 changes size {} between hosts {} and {} to {}",
                   words[0], change.one, change.other, change.us);
        out.push_back(change);
    }
    return out;
}

std::vector<Choice> choices_in(std::span<const std::uint64_t> words, Rank members) {
    std::vector<Choice> out;
    while (!words.empty()) {
        if (words.size() < 3 || low_of(words[2]) > kMostLevels || words.size() < 3 + 3 * low_of(words[2]))
            refuse(Status::bad_archive,
                   "adaptation: a choice of member 0 is cut short, or has too many levels");
        const auto operation = listed(high_of(words[0]), kOperations);
        const auto algorithm = algorithm_in(high_of(words[2]), words.subspan(3, 3 * low_of(words[2])));
        if (!operation || !algorithm || !can_choose(*algorithm, *operation) || low_of(words[0]) >= members)
            refuse(Status::bad_archive,
                   "adaptation: member 0 chose an algorithm of form {} for operation {}, root {}",
                   high_of(words[2]), high_of(words[0]), low_of(words[0]));
        out.push_back({*operation, low_of(words[0]), words[1], *algorithm});
        words = words.subspan(3 + 3 * low_of(words[2]));
    }
    return out;
}

} // namespace plexus::eco::detail
