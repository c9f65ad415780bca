// SPDX-License-Identifier: BSD-3-Clause
#include "group/decision.h"

#include "plexus/wire_type.h"
#include "topology/refuse.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace plexus::eco::detail {
namespace {

std::uint64_t joined(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }
std::uint32_t high_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::uint32_t low_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

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

std::vector<std::uint64_t> to_words(std::span<const Choice> choices) {
    std::vector<std::uint64_t> out;
    for (const Choice& each : choices)
        out.insert(out.end(), {joined(static_cast<std::uint32_t>(each.operation), each.root), each.bytes,
                               joined(static_cast<std::uint32_t>(each.options.pattern), each.options.arity),
                               each.options.segment_bytes, each.options.halve_from_bytes});
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

void check_choices(std::uint64_t count) {
    if (count > kMostChoices)
        refuse(Status::bad_archive,
               "adaptation: member 0 has chosen algorithms for {} kinds of calls; {} is "
               "the most",
               count, kMostChoices);
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
    for (; words.size() >= kChoiceWords; words = words.subspan(kChoiceWords)) {
        const auto operation = static_cast<Operation>(high_of(words[0]));
        const auto pattern = static_cast<Pattern>(high_of(words[2]));
        const bool known =
            high_of(words[0]) <= UINT8_MAX && high_of(words[2]) <= UINT8_MAX &&
            std::find(std::begin(kOperations), std::end(kOperations), operation) != std::end(kOperations);
        const Choice choice{
            operation, low_of(words[0]), words[1], {pattern, low_of(words[2]), words[3], words[4]}};
        if (!known || choice.root >= members || !supports(pattern, operation))
            refuse(Status::bad_archive, "adaptation: member 0 chose pattern {} for operation {}",
                   high_of(words[2]), high_of(words[0]));
        out.push_back(choice);
    }
    return out;
}

} // namespace plexus::eco::detail
