// SPDX-License-Identifier: BSD-3-Clause
// The estimate for who makes many of one network. Pure.
#pragma once

#include "plan/link.h"

#include <vector>

namespace plexus::eco {

/// estimate_us() of a plan of our own, with least_latencies() at hand.
double estimate_us(const Plan& plan, const Network& network, const std::vector<double>& least_us);

} // namespace plexus::eco
