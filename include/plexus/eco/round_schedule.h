// SPDX-License-Identifier: BSD-3-Clause
// Schedules of collective communications in rounds whose transfers share no link, after "Evolutionary design
// of collective communications on multistage networks" (section 3; a round is the paper's step). Values. Any
// thread.
#pragma once

#include "plexus/eco/link_graph.h"
#include "plexus/export.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

/// The paper's four collective communications.
enum class CollectiveKind : std::uint8_t {
    oab, ///< one-to-all broadcast: terminals that have the message pass it on
    aab, ///< all-to-all broadcast: the same of every terminal's message; one message a transfer
    oas, ///< one-to-all scatter: a message of its own for each, straight from the root
    aas, ///< all-to-all scatter: the same from each
};

inline constexpr CollectiveKind kCollectiveKinds[] = {CollectiveKind::oab, CollectiveKind::aab,
                                                      CollectiveKind::oas, CollectiveKind::aas};

/// "OAB". @thread any
PLEXUS_API std::string_view to_string(CollectiveKind kind) noexcept;
/// "OAB" or "oab"; nothing: it is none.
PLEXUS_API std::optional<CollectiveKind> parse_collective_kind(std::string_view text);

struct Transfer {
    std::uint32_t src; ///< terminals
    std::uint32_t dst;
    std::uint32_t msg; ///< the terminal whose message it is: of a scatter always src
    LinkPath path;     ///< one of the shortest ways from src to dst
    bool operator==(const Transfer&) const = default;
};

/// The transfers of a round share no link; of a one-port terminal a round has at most one that it sends and
/// one that it accepts. What arrives in a round can be sent from the next on.
using Round = std::vector<Transfer>;

struct RoundSchedule {
    CollectiveKind kind = CollectiveKind::oab;
    std::uint32_t root = 0; ///< of oab and oas
    std::vector<Round> rounds;
    bool operator==(const RoundSchedule&) const = default;
};

/// So many rounds every schedule has at least, and why.
struct RoundBound {
    std::uint64_t rounds = 0;
    std::string reason; ///< "terminal 3 accepts 15 messages on one link"
};

/// The greatest bound that ports, loads of links, cuts and weights of links prove of `graph`; computed from
/// its links alone. @error bad_argument as check(), or no such root (thrown)
PLEXUS_API RoundBound lower_bound(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root);

/// What a search tells while it runs, and what it is asked for.
struct SearchProgress {
    std::uint64_t rounds = 0; ///< of the best schedule so far; 0: none yet
    std::uint64_t bound = 0;  ///< 0: not known yet
    std::uint64_t tries = 0;  ///< generations of the evolutionary search, restarts of the fast one
};

/// Asked often, on the caller's thread; false ends the search.
using SearchCallback = std::function<bool(const SearchProgress&)>;

struct SearchOptions {
    std::uint64_t seed = 1;
    SearchCallback go_on; ///< none: until the bound is reached or the search has no more ideas
};

struct SearchResult {
    RoundSchedule schedule; ///< valid; of evolve_schedule() without rounds if it ended before it had one
    RoundBound bound;
    std::uint64_t tries = 0;
    bool optimal() const noexcept { return schedule.rounds.size() == bound.rounds; }
};

/// A short schedule for any graph: families of permutations, rings on trees, list scheduling by the most
/// loaded link, tabu search on partial schedules, an exact dynamic programme for broadcasts on trees. Ends at
/// the bound. The same seed gives the same schedule where nothing ends the search early. Ended early, it
/// still makes a first schedule, by one way for each pair of terminals, and the bound may be lower than
/// lower_bound().
/// @error bad_argument as lower_bound(); too_large the ways that it tries have more than 2^28 links together
/// (thrown)
PLEXUS_API SearchResult find_schedule(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root,
                                      const SearchOptions& options);

/// The paper's search (section 4): univariate marginal distribution algorithm over whole schedules of a fixed
/// number of rounds, which grows by one where `generations` are not enough.
struct EvolutionOptions {
    std::uint64_t seed = 1;
    std::uint32_t population = 60;
    double mutation = 0.9;
    std::uint32_t generations = 2000; ///< at most, for each number of rounds
    std::uint32_t first_rounds = 0;   ///< tried first; where the bound is higher, the bound
    std::uint32_t most_rounds = 0;    ///< no schedule of more is tried; 0: as many as it takes
    SearchCallback go_on;
};

/// Without rounds where go_on or most_rounds ended the search; the caller's thread alone works.
/// @error bad_argument as lower_bound(), a population below 4, a mutation that is no probability, or so many
/// rounds and links that counting conflicts needs more than 1 GiB; too_large as find_schedule() (thrown)
PLEXUS_API SearchResult evolve_schedule(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root,
                                        const EvolutionOptions& options);

/// Equation (1): each round costs `start_s` and the longest message `byte_s` per byte. In seconds.
PLEXUS_API double round_time_s(const RoundSchedule& schedule, std::uint64_t bytes, double start_s,
                               double byte_s);

} // namespace plexus::eco
