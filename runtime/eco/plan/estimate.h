// SPDX-License-Identifier: BSD-3-Clause
// The estimate for who makes many of one network. Pure.
#pragma once

#include "plan/link.h"
#include "plan/wires.h"

#include <limits>
#include <vector>

namespace plexus::eco {

/// Between some members a connection that was idle does not send as much as the way carries.
bool has_long_way(const Network& network);

/// What an estimate needs of a network, found once. Refers to it. Read by many threads.
struct Ways {
    explicit Ways(const Network& of)
      : network(of)
      , least_us(least_latencies(of))
      , wires(of)
      , are_long(has_long_way(of)) {}
    const Network& network;
    std::vector<double> least_us; ///< of each member
    Wires wires;
    bool are_long; ///< some: has_long_way()
};

/// estimate_us() with open connections, of a plan of our own. Some time from the limit on, where it is that
/// or more. Taken to be no more than expected_us().
double open_us(const Plan& plan, const Ways& ways, double limit_us = std::numeric_limits<double>::infinity());

/// The mean of estimate_us() with idle and with open connections, of a plan of our own: calls may follow each
/// other, or come after a pause. Infinity where it is `limit_us` at least.
double expected_us(const Plan& plan, const Ways& ways,
                   double limit_us = std::numeric_limits<double>::infinity());

} // namespace plexus::eco
