// SPDX-License-Identifier: BSD-3-Clause
// Trees that follow a network. Pure.
#pragma once

#include "plan/link.h"
#include "plan/tree.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace plexus::eco {

/// How the members of one closest group are arranged.
struct Inner {
    /// Nothing: whoever can get it to the next one soonest sends it.
    std::optional<Pattern> pattern;
    std::uint32_t arity = 2;
};

/// How the coordinators of neighbouring groups are arranged.
enum class Outer {
    soonest,        ///< whoever can get it to the next one soonest sends it
    chain,          ///< each to the nearest that is left: for many segments
    farthest_first, ///< the first sends to all, over the longest way first
};

class EcoTree {
  public:
    /// Arranged for messages of `bytes`, by the first `fine` levels of groups and by all
    /// members as the last.
    EcoTree(const Network& network, const std::vector<double>& least_us, double bytes,
            std::size_t fine = SIZE_MAX, Outer outer = Outer::soonest);

    /// A tree over groups with the root's at its root, on every level from the widest down;
    /// inside the closest groups, `inner` (nothing: for each what is fastest there).
    Tree build(Rank root, std::optional<Inner> inner) const;

  private:
    using Members = std::vector<Rank>;

    void join(Tree& tree, std::size_t level, const Members& group, Rank root,
              const std::optional<Inner>& inner) const;
    void soonest(Tree& tree, Members members) const;
    void chain(Tree& tree, Members members) const;
    void farthest_first(Tree& tree, Members members) const;
    double arrives_us(Rank from, Rank to) const;
    void arrange(Tree& tree, const Members& members, const Inner& inner) const;
    void fastest(Tree& tree, const Members& members) const;
    double time_us(const Tree& tree, Rank root) const;

    const Network& network_;
    const std::vector<double>& least_us_;
    double bytes_;
    Outer outer_;
    std::vector<std::vector<std::size_t>> group_of_; // by level and member
};

} // namespace plexus::eco
