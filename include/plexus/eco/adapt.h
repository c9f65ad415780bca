// SPDX-License-Identifier: BSD-3-Clause
// Adaptation at run time: what the user of a group may choose of it, and what it reports. See Group::adapt()
// and adaptation_of(). Values. Any thread.
#pragma once

#include "plexus/eco/history.h"
#include "plexus/export.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plexus::eco {

/// All members must give the same, but for the history.
struct AdaptOptions {
    /// Calls between two checks, at least. Above 0.
    std::uint32_t every = 4;
    /// A check takes time as well: the next one comes later, so that checks take at most this share of the
    /// time of calls, but after at most 256 times `every` calls.
    double share = 0.05;
    /// A time has drifted if it is more than so many times what is expected, or less than that fraction of
    /// it. Above 1.
    double drift = 1.5;
    /// Smaller differences, in microseconds, are no drift.
    double least_us = 50;
    /// Of past runs; counts on member 0 alone, others may give none. Until the map is refined, automatic
    /// calls go by the algorithm that was measured fastest for their kind, if the automatic one was measured
    /// as well. Member 0 chooses once, and sends its choice to all.
    std::shared_ptr<const History> history = nullptr;
    bool operator==(const AdaptOptions&) const = default;
};

/// Two hosts between which messages take another time now than the map said when adaptation began.
struct DriftedEdge {
    std::string one;
    std::string other;
    std::uint64_t bytes = 0; ///< of a message: the largest size of the map
    double map_us = 0;       ///< what it took by the map
    double now_us = 0;       ///< what it takes by the refined map
    bool operator==(const DriftedEdge&) const = default;
};

struct AdaptReport {
    std::uint32_t epoch = 0;  ///< how often the map was refined; the same on all members
    std::uint64_t calls = 0;  ///< blocking calls so far
    std::uint64_t checks = 0; ///< of the members' times
    std::uint64_t probed = 0; ///< edges that were measured, some more than once
    /// That the group's calls follow: the refined one. Null: the group does not adapt.
    std::shared_ptr<const Map> map = nullptr;
    /// Where the refined map differs, the greatest change first.
    std::vector<DriftedEdge> drifted = {};
    /// Hosts that are slower than the map says to all others.
    std::vector<std::string> slow_hosts = {};
    /// How many kinds of calls go by an algorithm that the history of AdaptOptions chose.
    std::uint64_t chosen = 0;
    /// On member 0: why none does although there is a history. Else empty.
    std::string ignored = {};
    /// On member 0: what calls took at each check, as long as the map was not refined. To be added to a
    /// history that is kept in a file: see save_history().
    History measured = {};
    bool operator==(const AdaptReport&) const = default;
};

/// A line for each slow host, "h3 is slower than the map says, to all other hosts", and for each edge,
/// "messages of 65536 bytes between a1 and b1 take 10.2 times as long as the map says (524 ms in place
/// of 51.4 ms)". Empty: nothing has drifted.
PLEXUS_API std::string to_text(const AdaptReport& report);

} // namespace plexus::eco
