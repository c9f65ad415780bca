// SPDX-License-Identifier: BSD-3-Clause
// Patterns that are no trees, each for the operations it suits. They know no network.
#pragma once

#include "plexus/eco/plan.h"

namespace plexus::eco {

/// broadcast, all_gather, all_reduce, reduce_scatter.
Plan plan_ring(const PlanRequest& request);

/// broadcast, reduce, all_gather, all_reduce, reduce_scatter, barrier. `halve`: by halving and doubling
/// vectors; else whole vectors go to partners, which suits all_reduce alone.
Plan plan_butterfly(const PlanRequest& request, bool halve);

/// all_gather, all_to_all, barrier.
Plan plan_bruck(const PlanRequest& request);

/// all_gather, all_to_all, barrier, reduce_scatter.
Plan plan_pairwise(const PlanRequest& request);

/// scan, exclusive_scan: everyone to the next, in `parts` parts; or, with `doubling`, to those
/// at distances 1, 2, 4 ….
Plan plan_scan(const PlanRequest& request, bool doubling, std::uint64_t parts);

} // namespace plexus::eco
