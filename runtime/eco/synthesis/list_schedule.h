// SPDX-License-Identifier: BSD-3-Clause
// List scheduling: round by round, the links with the most left to carry first. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <cstdint>
#include <functional>

namespace plexus::eco {

/// Fills at most `rounds` rounds; tasks that found no place in them stay kNowhere. `go_on` is asked now
/// and then; false leaves the rest without a place.
Assignment list_schedule(const Placement& placement, std::uint32_t rounds, Random& random,
                         const std::function<bool()>& go_on);

enum class InHaste : std::uint8_t {
    give_up, ///< leave the rest without a place
    finish,  ///< place the rest, each task by its first way
};

/// Places what is left in further rounds, each task in the first where one of its ways fits. `go_on` is asked
/// now and then; `then` is what happens once it says false. @return true if all tasks have a place
bool add_rounds(const Placement& placement, Assignment& assignment, const std::function<bool()>& go_on,
                InHaste then);

} // namespace plexus::eco
