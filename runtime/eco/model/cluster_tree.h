// SPDX-License-Identifier: BSD-3-Clause
// A schedule between clusters as a tree over their places. Pure.
#pragma once

#include "plan/tree.h"
#include "plexus/eco/intercluster.h"
#include "topology/refuse.h"

namespace plexus::eco {

/// Maps and networks count in microseconds, models and schedules between clusters in seconds.
inline constexpr double kSecondsPerUs = 1e-6;

/// @error unsupported the order of contributions counts, which a schedule does not keep (thrown)
inline void check_order(const PlanRequest& request) {
    if (reduces(request.operation) && !request.commutative)
        refuse(Status::unsupported,
               "a schedule between clusters combines contributions in another order than that of "
               "the ranks");
}

inline Tree tree_of(const InterclusterSchedule& schedule, std::size_t root, std::size_t clusters) {
    Tree out(static_cast<Rank>(clusters));
    out.root = static_cast<Rank>(root);
    out.collect_first_to_last = false; // of a reduction: the schedule backwards
    for (const ClusterSend& each : schedule.sends)
        out.children[each.from].push_back(static_cast<Rank>(each.to));
    return out;
}

} // namespace plexus::eco
