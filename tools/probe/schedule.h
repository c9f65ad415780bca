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

/// True if every size of the map has a cost for the pair, in both directions.
bool is_measured(const eco::Map& map, const HostPair& pair);

/// The old map with these hosts and methods as well, at the end of its lists.
/// @error bad_argument as Map (thrown)
eco::Map extended(const eco::Map& old, const std::vector<std::string>& hosts,
                  const std::vector<std::string>& methods, std::string date);

/// Rounded to the digits that mean something: tenths of nanoseconds.
eco::Cost rounded(eco::Cost cost);

/// The median of several measurements of one edge, number by number; for an even count the mean of the middle
/// two. The counts of samples add up. There is at least one measurement.
eco::Cost median_of(std::span<const eco::Cost> repeats);

} // namespace plexus::tools::probe
