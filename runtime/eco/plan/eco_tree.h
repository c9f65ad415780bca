// SPDX-License-Identifier: BSD-3-Clause
// Trees that follow a network. Pure.
#pragma once

#include "plan/estimate.h"
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
    /// On a wire that all share it counts how much is sent, not by whom: a star is the flattest.
    bool star_on_shared_wires = false;
};

/// How the coordinators of neighbouring groups are arranged.
enum class Outer {
    soonest,        ///< whoever can get it to the next one soonest sends it
    chain,          ///< each to the nearest that is left: for many segments
    farthest_first, ///< the first sends to all, over the longest way first
    balanced,       ///< so that no group has much more to send than others: for many segments
};

class EcoTree {
  public:
    /// Arranged for messages of `bytes`, by the first `fine` levels of groups and by all
    /// members as the last.
    EcoTree(const Ways& ways, double bytes, std::size_t fine = SIZE_MAX, Outer outer = Outer::soonest);

    /// A tree over groups with the root's at its root, on every level from the widest down;
    /// inside the closest groups, `inner` (nothing: for each what is fastest there).
    Tree build(Rank root, std::optional<Inner> inner) const;

    /// As many trees as asked for, each by other members of every group where it has them: the
    /// root hands each tree's part to a neighbour, who is the first of that tree.
    std::vector<Tree> build_several(Rank root, std::optional<Inner> inner, std::size_t count) const;

  private:
    using Members = std::vector<Rank>;

    Tree build(Rank root, const std::optional<Inner>& inner, std::size_t turn) const;
    void join(Tree& tree, std::size_t level, const Members& group, Rank root,
              const std::optional<Inner>& inner, std::size_t turn) const;
    Rank coordinator_of(const Members& group, Rank root, std::size_t turn) const;
    void soonest(Tree& tree, Members members) const;
    void chain(Tree& tree, Members members) const;
    void farthest_first(Tree& tree, Members members) const;
    void balanced(Tree& tree, const Members& coordinators, const std::vector<Members>& groups) const;
    double load_us(Rank coordinator, const Members& group) const;
    double send_us(Rank from, Rank to) const;
    double arrives_us(Rank from, Rank to) const;
    void arrange(Tree& tree, const Members& members, const Inner& inner) const;
    void fastest(Tree& tree, const Members& members) const;
    double time_us(const Tree& tree, Rank root) const;
    bool on_one_wire(const Members& members) const;

    const Ways& ways_;
    const Network& network_;
    double bytes_;
    Outer outer_;
    std::vector<std::vector<std::size_t>> group_of_; // by level and member
};

} // namespace plexus::eco
