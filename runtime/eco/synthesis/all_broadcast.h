// SPDX-License-Identifier: BSD-3-Clause
// All-to-all broadcast by passing messages on. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <functional>

namespace plexus::eco {

/// Every message goes round the ring: `ring` in each of N - 1 rounds.
std::vector<Round> all_round(const Round& ring);

/// Round by round, each terminal takes from the nearest one that can send what it lacks, the rarest message
/// first. `pairs` is Placement::of_pairs(). No rounds: `go_on` said false.
std::vector<Round> spread(const Placement& pairs, Random& random, const std::function<bool()>& go_on);

} // namespace plexus::eco
