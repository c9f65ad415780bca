// SPDX-License-Identifier: BSD-3-Clause
// Tabu search on partial schedules of a fixed number of rounds (PartialCol of Bloechliger and Zufferey, 2008,
// with ways to choose): a task without a place takes the one where it puts the fewest others out. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <functional>

namespace plexus::eco {

/// Rounds times resources that the search keeps in memory at most.
inline constexpr std::size_t kTabuCells = std::size_t{1} << 26;

struct TabuOptions {
    std::uint32_t rounds = 0;
    std::uint64_t patience =
        0;                    ///< so many moves without fewer tasks unplaced than ever before end the search
    bool keep_rounds = false; ///< every task stays in the round that it has; only ways are looked for
};

/// Goes on from `assignment`, which has no more than the rounds asked for, until every task has its place
/// (true) or patience ends. Tasks of one round may share resources at the start: then some count as unplaced.
/// `go_on` is asked now and then; false ends the search. A placement of more than kTabuCells is left as it
/// is, and so is one for which `go_on` says false at once.
bool tabu_search(const Placement& placement, const TabuOptions& options, Assignment& assignment,
                 Random& random, const std::function<bool()>& go_on);

} // namespace plexus::eco
