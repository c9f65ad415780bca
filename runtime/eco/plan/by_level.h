// SPDX-License-Identifier: BSD-3-Clause
// Plans of groups, put together to a plan for all members. Pure.
#pragma once

#include "plan/tree.h"
#include "plexus/eco/levels.h"

#include <cstddef>
#include <functional>
#include <optional>

namespace plexus::eco {

/// How the members of one group, or the coordinators of its parts, act.
struct GroupPattern {
    AlgorithmOptions options;
    /// In place of the options: a tree over places in the group, with the coordinator's place at its root.
    /// Parts of a vector are not cut for it.
    std::optional<Tree> tree = {};
};

/// By the level, from 0 for the closest, and the group's place in it.
using ChoosePattern = std::function<GroupPattern(std::size_t level, std::size_t group)>;

/// As plan_by_level(), with a pattern for each group. @error as plan_by_level() (thrown)
Plan plan_of_groups(const PlanRequest& request, const Levels& levels, const ChoosePattern& choose);

} // namespace plexus::eco
