// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts on trees, exact. One-port: the terminals in the order of a tour around the tree, halved again
// and again (Farley, "Minimum-time line broadcast networks", 1980). All-port: a dynamic programme over the
// sets of rounds in which the link to a subtree and the link back are used. Pure.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <cstdint>
#include <optional>

namespace plexus::eco {

/// Steps of the programme that bounds and searches allow: below half a second.
inline constexpr std::uint32_t kTreeWork = 20'000'000;

/// A broadcast of the fewest rounds. Nothing: `graph` is no tree, a terminal begins and ends at different
/// vertices, or the programme takes more than `most_work` steps.
std::optional<RoundSchedule> tree_broadcast(const LinkGraph& graph, std::uint32_t root,
                                            std::uint32_t most_work);

/// So many rounds a broadcast on a tree takes at least: as many as tree_broadcast() needs, or fewer where
/// that takes more than `most_work` steps. 0: nothing is known, as `graph` is none of its trees.
std::uint32_t least_tree_rounds(const LinkGraph& graph, std::uint32_t root, std::uint32_t most_work);

} // namespace plexus::eco
