// SPDX-License-Identifier: BSD-3-Clause
// One-to-all broadcast on any network, found backwards: first who receives in the last round from whom. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <functional>

namespace plexus::eco {

/// A valid schedule, of `wanted` rounds where the search comes to it. No rounds: `go_on` said false.
std::vector<Round> broadcast_backwards(const Routes& routes, std::uint32_t root, std::uint64_t wanted,
                                       Random& random, const std::function<bool()>& go_on);

} // namespace plexus::eco
