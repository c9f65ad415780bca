// SPDX-License-Identifier: BSD-3-Clause
// What one message does to its two ends, by the map alone. Pure.
#pragma once

#include "plexus/eco/network.h"

#include <algorithm>

namespace plexus::eco {

struct Link {
    double arrives_us; ///< from the send until all of it is there
    double busy_us;    ///< from the send until the sender can send again
    double drain_us;   ///< that the receiver needs for it at least
};

/// Half of a latency is taken for the work that a message makes at each end, but never more
/// than half of the sender's or receiver's `least_us`, the cheapest of all its latencies:
/// the rest of a longer way is the way's.
inline Link link_between(const Network& network, Rank from, Rank to, double bytes, double least_us) {
    const double latency = network.latency_us(from, to);
    const double content = network.us_per_byte(from, to) * bytes;
    const double args = std::min(latency, least_us) / 2;
    return {latency + content, args + content, content};
}

/// Of each member, over all others.
inline std::vector<double> least_latencies(const Network& network) {
    std::vector<double> least(network.size(), 0);
    for (Rank a = 0; a < network.size(); ++a) {
        double mine = CostMatrix::kNotMeasured;
        for (Rank b = 0; b < network.size(); ++b)
            if (a != b) mine = std::min(mine, network.latency_us(a, b));
        if (network.size() > 1) least[a] = mine;
    }
    return least;
}

} // namespace plexus::eco
