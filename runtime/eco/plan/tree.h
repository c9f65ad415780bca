// SPDX-License-Identifier: BSD-3-Clause
// Trees over members, and every operation along a tree. A tree knows neither operation nor
// network.
#pragma once

#include "plan/builder.h"

#include <optional>
#include <span>
#include <vector>

namespace plexus::eco {

struct Tree {
    Rank root = 0;
    std::vector<std::vector<Rank>> children; ///< of each member, in the order in which it sends
    /// Contributions come in from the first child to the last, or the other way: so that
    /// neighbours meet, or so that who is served first at the start is waited for last.
    bool collect_first_to_last = true;

    explicit Tree(Rank members)
      : children(members) {}
};

/// Members 0 … P-1 in preorder, so that each subtree is a run of ranks; then turned so that
/// `root` is the root. For star, tree, binomial and chain.
Tree regular_tree(Pattern pattern, std::uint32_t arity, Rank members, Rank root);

/// Every operation, its vector in `parts` parts. What all get from an all_gather goes down the
/// tree in so many portions as well. Other operations whose blocks are no parts ignore it.
Plan along(const Tree& tree, const PlanRequest& request, std::uint64_t parts);

/// The same with the parts in turn along several trees, which have the root in common: so
/// several members of a group pass it on. For operations that have parts: see has_parts().
Plan along(std::span<const Tree> trees, const PlanRequest& request, std::uint64_t parts);

/// How many parts of `segment_bytes` (0: all in one) the task's vector has.
std::uint64_t segments_of(const PlanRequest& request, std::uint64_t segment_bytes);

/// Into how many parts a tree by these options cuts the task's vector.
std::uint64_t parts_of(const PlanRequest& request, const AlgorithmOptions& options);

} // namespace plexus::eco
