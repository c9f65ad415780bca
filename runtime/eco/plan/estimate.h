// SPDX-License-Identifier: BSD-3-Clause
// The estimate for who makes many of one network. Pure.
#pragma once

#include "plan/link.h"
#include "plan/wires.h"

#include <limits>
#include <vector>

namespace plexus::eco {

/// What an estimate needs of a network, found once. Refers to it. Read by many threads.
struct Ways {
    explicit Ways(const Network& of)
      : network(of)
      , least_us(least_latencies(of))
      , wires(of) {}
    const Network& network;
    std::vector<double> least_us; ///< of each member
    Wires wires;
};

/// estimate_us() of a plan of our own; infinity where it takes `limit_us` at least.
double estimate_us(const Plan& plan, const Ways& ways,
                   double limit_us = std::numeric_limits<double>::infinity());

} // namespace plexus::eco
