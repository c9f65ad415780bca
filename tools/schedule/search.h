// SPDX-License-Identifier: BSD-3-Clause
// Searches for a schedule within a time. Calls block that long.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace plexus::tools::schedule {

using Seconds = std::chrono::duration<double>;

enum class Search : std::uint8_t { fast, umda };

std::string_view to_string(Search search) noexcept;
/// "fast", "umda", or `usual` where there is no text. @error bad_argument something else (thrown)
Search search_of(const std::string& text, Search usual);

struct SearchTask {
    const eco::LinkGraph& graph;
    eco::CollectiveKind kind;
    std::uint32_t root;
    Search search;
    std::uint64_t seed;
    Seconds time; ///< the search ends after so long
    /// Of the evolutionary search: schedules of so many rounds alone are looked for, and the first one ends
    /// it. 0: from the bound on, and then shorter ones.
    std::uint32_t enough = 0;
};

struct Found {
    eco::SearchResult result; ///< without rounds: time ran out before there was a schedule
    Seconds took;
};

/// One search with the task's seed, on this thread; the evolutionary one begins anew with other seeds, made
/// from it, while there is time. @error those of find_schedule() (thrown)
Found search_once(const SearchTask& task);

/// Searches until the bound is reached or the time is over. The fast search runs twice, with the seeds 2s and
/// 2s + 1, on this thread and another: the first at the bound ends the other. Of the two schedules it gives
/// the shorter, of equal ones that of the lower seed. The evolutionary search is that of search_once().
/// @error as search_once()
Found search_best(const SearchTask& task);

} // namespace plexus::tools::schedule
