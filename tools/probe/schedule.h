// SPDX-License-Identifier: BSD-3-Clause
// Which pairs are measured in which order, and which parts of an older map stay valid. Pure functions on
// values. Any thread.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plexus::tools::probe {

using eco::HostPair;

/// Pairs that share no host.
using Round = std::vector<HostPair>;

/// Every pair of `hosts` once, in as few rounds as can be: the circle method of tournaments.
std::vector<Round> rounds_of(std::size_t hosts);

/// The rounds without the pairs that need no measuring; empty rounds are left out.
template <class Predicate>
std::vector<Round> only(const std::vector<Round>& rounds, Predicate&& is_due) {
    std::vector<Round> out;
    for (const Round& round : rounds) {
        Round kept;
        for (const HostPair& pair : round)
            if (is_due(pair)) kept.push_back(pair);
        if (!kept.empty()) out.push_back(std::move(kept));
    }
    return out;
}

/// Each pair in a round of its own.
std::vector<Round> one_by_one(const std::vector<Round>& rounds);

/// How many passes the map has of the pair: of the size and direction that has the fewest. 0: of one there is
/// no cost.
std::uint32_t passes_of(const eco::Map& map, const HostPair& pair);

/// The old map with these hosts and methods as well, at the end of its lists; acquired models stay.
/// @error bad_argument as Map (thrown)
eco::Map extended(const eco::Map& old, const std::vector<std::string>& hosts,
                  const std::vector<std::string>& methods, std::string date);

/// The map with models that were acquired now: of each link between two of `subnets`, or inside one, they
/// replace earlier ones of the same name. One without parameters replaces none that has some.
/// @error bad_argument as Map::set_acquired() (thrown)
void keep_models(eco::Map& map, const eco::Partition& subnets, const std::vector<eco::AcquiredModel>& fresh);

/// Rounded to the digits that mean something: tenths of nanoseconds.
eco::Cost rounded(eco::Cost cost);

/// Of two measurements of one edge the least of each number: a disturbance that spoils one of them is not in
/// it. The counts of samples and passes add up; the method is that of the measurement with the lesser least
/// time.
eco::Cost least_of(const eco::Cost& one, const eco::Cost& other);

/// Of several measurements of one edge the second least of each number, of one alone that: one that came out
/// too low does not decide, and neither do disturbances, as long as two measurements are without. The counts
/// of samples add up; that of passes means nothing. There is at least one measurement.
eco::Cost second_least_of(std::span<const eco::Cost> repeats);

} // namespace plexus::tools::probe
