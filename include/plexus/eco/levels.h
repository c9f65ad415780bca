// SPDX-License-Identifier: BSD-3-Clause
// Plans that are put together from plans of groups, level by level: inside sockets, hosts, clusters and
// sites, and between them. Values. Pure. Any thread.
#pragma once

#include "plexus/eco/partition.h"
#include "plexus/eco/plan.h"
#include "plexus/export.h"

#include <vector>

namespace plexus::eco {

/// Groups of members, the closest first. Each level joins whole groups of the level before, and the last
/// level is one group of all, as Network::levels().
using Levels = std::vector<Partition>;

/// On each level, the coordinators of the groups of the level below act by that level's pattern: of the
/// closest groups, all members. A group's coordinator is the root, or else its first member. `widest_first`
/// counts from the closest level: its last pattern is for the closest groups, the pattern before for the next
/// level; where there are more levels than patterns, the first pattern is for all wider levels, and patterns
/// for which there is no level have no effect.
///
/// Where all patterns that are used are trees (star, tree, binomial, chain), the levels are one tree, and the
/// parts of a vector follow each other through all levels. Otherwise a level begins when the level before is
/// done: a broadcast at the widest level, a reduction at the closest; operations in which everyone sends and
/// receives go up, across and down: an all_reduce is a reduce in each group, an all_reduce at the widest
/// level and a broadcast in each group. Where a pattern has no form of such a step, that step of the level
/// goes by star (scatter, gather) or binomial (broadcast, reduce).
/// @error bad_argument as plan(), no pattern, or `levels` are not as Levels says (thrown)
/// @error unsupported  as plan() of a used pattern; a scan; contributions are combined in the order of ranks,
/// and the groups are not runs of ranks (thrown)
PLEXUS_API Plan plan_by_level(const PlanRequest& request, const Levels& levels,
                              const std::vector<AlgorithmOptions>& widest_first);

} // namespace plexus::eco
