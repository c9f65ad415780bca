// SPDX-License-Identifier: BSD-3-Clause
// What member 0 sends to all members in an adaptation: as words of 64 bits, and checked by those who take it.
// Pure.
#pragma once

#include "model/drift.h"
#include "plexus/eco/adapt.h"
#include "plexus/eco/algorithm.h"
#include "plexus/eco/plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plexus::eco::detail {

/// Kinds of calls for which a history chooses an algorithm, at most.
inline constexpr std::uint64_t kMostChoices = 4096;

/// The history says that this algorithm is the fastest for such calls.
struct Choice {
    Operation operation;
    Rank root;
    std::uint64_t bytes;
    Algorithm algorithm; ///< by a pattern, by level or by a rule
};

/// True: a Choice may have it.
bool can_choose(const Algorithm& algorithm, Operation operation);

/// What all do next in a check: measure these edges at the same time, or, if there are none, end it.
struct Decision {
    std::uint64_t edges = 0;
    std::uint64_t changes = 0; ///< of the map
    std::uint64_t epoch = 0;
    std::uint64_t calls_until_check = 0;
};

/// How the members know that their options are the same.
std::uint64_t number_of(const AdaptOptions& options);

std::vector<std::uint64_t> to_words(std::span<const MemberPair> edges);
std::vector<std::uint64_t> to_words(std::span<const CostChange> changes);
std::vector<std::uint64_t> to_words(std::span<const Choice> choices);
/// Of each item.
inline constexpr std::uint64_t kEdgeWords = 1;
inline constexpr std::uint64_t kChangeWords = 3;
/// Of a choice at most.
inline constexpr std::uint64_t kMostLevels = 16;
inline constexpr std::uint64_t kMostChoiceWords = 3 + 3 * kMostLevels;

// Each: @error bad_archive it is nothing that member 0 of such a group sends (thrown)

void check(const Decision& decision, const AdaptOptions& options, Rank members, const Map& map);
/// Of all choices together.
void check_choice_words(std::uint64_t count);
std::vector<MemberPair> edges_in(std::span<const std::uint64_t> words, Rank members);
std::vector<CostChange> changes_in(std::span<const std::uint64_t> words, const Map& map);
std::vector<Choice> choices_in(std::span<const std::uint64_t> words, Rank members);

} // namespace plexus::eco::detail
