// SPDX-License-Identifier: BSD-3-Clause
// The search behind plan_eco(), and how much work it was. Pure.
#pragma once

#include "plexus/eco/network.h"

#include <cstdint>

namespace plexus::eco {

/// Of the plans that a search wrote down and timed.
struct SearchWork {
    std::uint64_t plans = 0;
    std::uint64_t messages = 0;
    std::uint64_t ranges = 0; ///< of blocks, in these messages
};

/// As plan_eco() without the count. Adds to `work`. What would take too long is left out: plans by rule above
/// 128 clusters, since to find a schedule takes the cube of their number; an all_to_all by level above 2,000
/// members, since its plan names the blocks of all pairs; and above 200 members what would let each of them
/// send to each other one, if there is something else. (Predictions leave out pairwise above 1,024 members, a
/// million messages: see predict_patterns().) @error as plan_eco() (thrown)
Plan plan_eco(const PlanRequest& request, const Network& network, SearchWork& work);

} // namespace plexus::eco
