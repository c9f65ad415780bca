// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of adaptation: which times no longer fit a map, which edges of it are measured then, and the
// map that fits what was measured. Pure: who measures, and how members agree on the outcome, is decided
// elsewhere.
#pragma once

#include "plexus/eco/adapt.h"
#include "plexus/eco/map.h"
#include "plexus/eco/network.h"
#include "plexus/eco/partition.h"
#include "plexus/eco/plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plexus::eco {

/// How a measured time stands to the expected one.
enum class Drift : std::uint8_t { none, slower, faster };
Drift drift_of(double expected_us, double measured_us, const AdaptOptions& options) noexcept;

/// A member of each of two hosts.
struct MemberPair {
    Rank from;
    Rank to;
    bool operator==(const MemberPair&) const = default;
};

/// Pairs that are measured at the same time. They do not disturb each other.
using ProbeRound = std::vector<MemberPair>;

/// The edges between hosts on which the plan sends most, each once: at most four for each host.
std::vector<MemberPair> edges_of(const Plan& plan, const Network& network);

/// Appends those between two hosts of which there is no edge yet.
void add_edges(std::vector<MemberPair>& edges, std::span<const MemberPair> more, const Network& network);

/// Edges whose cost differs, the greatest change first: at most so many. `places`: of the members' hosts in
/// the maps.
std::vector<MemberPair> changed_edges(const Map& before, const Map& after,
                                      std::span<const std::size_t> places, const AdaptOptions& options,
                                      std::size_t most);

/// Further edges that tell what is slow where `drifted` are: a host, the way between two groups of hosts, or
/// one edge. `closest` are groups of members; edges in `known` are left out.
std::vector<MemberPair> edges_beside(std::span<const MemberPair> drifted, std::span<const MemberPair> known,
                                     const Network& network, const Partition& closest);

/// Each edge in one round. In a round each host is on one edge, a shared wire carries one edge, and at most
/// one edge leaves each of the groups of `closest`.
std::vector<ProbeRound> rounds_of(std::span<const MemberPair> edges, const Network& network,
                                  const Partition& closest);

/// What messages took one way between two hosts, by their places in the map, and what of it has drifted.
struct MeasuredEdge {
    std::size_t one = 0;
    std::size_t other = 0;
    double small_us = 0; ///< of one byte
    double large_us = 0; ///< of `large_bytes`
    Drift small_drift = Drift::none;
    Drift large_drift = Drift::none;
    Drift bytes_drift = Drift::none; ///< of the time per byte
    bool drifted() const noexcept { return small_drift != Drift::none || large_drift != Drift::none; }
};

/// `places`: of the members' hosts in the map of `network`.
MeasuredEdge compared(MemberPair pair, double small_us, double large_us, std::uint64_t large_bytes,
                      const Network& network, std::span<const std::size_t> places,
                      const AdaptOptions& options);

/// The cost of a size between two hosts, both ways.
struct CostChange {
    std::uint32_t size; ///< a place in Map::sizes_bytes()
    std::uint32_t one;
    std::uint32_t other;
    double us;
    bool operator==(const CostChange&) const = default;
};

/// What has to change in the map so that it fits the edges that have drifted. Edges that nobody measured
/// follow those that were, by the least of their changes: all edges of a host if all of its measured edges,
/// to two other hosts or more, are slower; and all edges between two groups of `closest` (of hosts) if all
/// that were measured between them are slower. The same for faster ones.
std::vector<CostChange> refine(const Map& map, std::span<const MeasuredEdge> edges, std::uint64_t large_bytes,
                               const Partition& closest);

/// The map with these changes, and without models that were acquired on changed edges. @error bad_argument as
/// Map::set() (thrown)
Map with_changes(const Map& map, std::span<const CostChange> changes);

/// Edges that differ, the greatest change first.
std::vector<DriftedEdge> drifted_edges(const Map& before, const Map& after, const AdaptOptions& options);

/// Hosts all of whose edges are slower, by the largest or the smallest size. Of two or more other hosts.
std::vector<std::string> slow_hosts(const Map& before, const Map& after, const AdaptOptions& options);

/// Calls until the next check, at least `every`: see AdaptOptions::share.
std::uint32_t calls_until_check(double check_us, double call_us, const AdaptOptions& options) noexcept;

} // namespace plexus::eco
