// SPDX-License-Identifier: BSD-3-Clause
// The exact optimum of a one-to-all broadcast on an all-port tree, by dynamic programming over subtrees.
// Pure.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <cstdint>
#include <optional>

namespace plexus::eco {

/// Combinations of subtrees' possibilities that the broadcast's bound and search look at: below half a
/// second.
inline constexpr std::uint64_t kTreeWork = 20'000'000;

/// A subtree is told by the rounds in which a transfer comes in over the link from its parent and by those in
/// which one goes out over the link to it; of these pairs each vertex keeps those that no other outdoes.
/// The schedule has the fewest rounds there are. Nothing: the graph is no tree, or one-port, or `most_work`
/// combinations were not enough.
std::optional<RoundSchedule> tree_broadcast(const LinkGraph& graph, std::uint32_t root,
                                            std::uint64_t most_work);

} // namespace plexus::eco
