// SPDX-License-Identifier: BSD-3-Clause
// List scheduling: round by round, the links with the most left to carry first. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <functional>

namespace plexus::eco {

/// Fills at most `rounds` rounds; tasks that found no place in them stay kNowhere. `go_on` is asked in every
/// round; false leaves the rest without a place.
Assignment list_schedule(const Placement& placement, std::uint32_t rounds, Random& random,
                         const std::function<bool()>& go_on);

/// Places what is left in further rounds, each task in the first where one of its ways fits. `go_on` is asked
/// now and then. @return false if it said no: some are without a place
bool add_rounds(const Placement& placement, Assignment& assignment, const std::function<bool()>& go_on);

} // namespace plexus::eco
