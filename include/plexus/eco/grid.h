// SPDX-License-Identifier: BSD-3-Clause
// Rings, meshes and tori over a group: who is next to whom, so that few and cheap edges of the
// network are crossed, and exchanges between neighbours (the ECO paper's nearest-neighbour
// topologies).
#pragma once

#include "plexus/eco/arrange.h"
#include "plexus/eco/group.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plexus::eco {

/// A member's view of the grid. Calls on it are calls on its group, in the same order for all.
class PLEXUS_API Grid {
  public:
    /// Every member of `group` makes it, with the same shape. @error as arrange() (thrown)
    Grid(Group group, GridShape shape);

    const GridShape& shape() const noexcept { return shape_; }
    /// Of this member.
    const std::vector<Rank>& coordinates() const noexcept { return mine_; }
    /// The group's rank at a place. @error bad_argument there is no such place (thrown)
    Rank rank_at(std::span<const Rank> coordinates) const;
    /// Who is `steps` further along a dimension; nothing: that is beyond the edge.
    std::optional<Rank> neighbour(std::size_t dimension, std::int64_t steps) const;

    /// Sends `out` to the member `steps` further and takes `in` from the one as many steps
    /// before. Where there is none, nothing is sent, or `in` stays as it is. @error as Collectives
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    void shift(std::size_t dimension, std::int64_t steps, std::span<S, N> out, std::span<T, M> in) const {
        start_shift(dimension, steps, std::as_bytes(out), std::as_writable_bytes(in)).get();
    }
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T> Future<void> async_shift(std::size_t dimension, std::int64_t steps,
                                                                  std::span<S, N> out, std::span<T, M> in)
    const { return start_shift(dimension, steps, std::as_bytes(out), std::as_writable_bytes(in)); }
    /// Both ways at once with the two neighbours in a dimension.
    template <Plain T>
    void exchange(std::size_t dimension, std::span<const T> to_lower, std::span<const T> to_upper,
                  std::span<T> from_lower, std::span<T> from_upper) const {
        Future<void> up = async_shift(dimension, 1, to_upper, from_lower);
        Future<void> down = async_shift(dimension, -1, to_lower, from_upper);
        up.get();
        down.get();
    }

  private:
    Future<void> start_shift(std::size_t dimension, std::int64_t steps, std::span<const std::byte> out,
                             std::span<std::byte> in) const;
    std::int64_t opposite(std::size_t dimension, std::int64_t steps) const;

    Group group_;
    GridShape shape_;
    std::vector<Rank> member_at_;
    std::vector<Rank> mine_;
};

/// A periodic grid of one dimension.
class PLEXUS_API Ring : public Grid {
  public:
    explicit Ring(Group group);

    struct Neighbours {
        Rank left;
        Rank right;
    };
    Neighbours neighbours() const { return {*neighbour(0, -1), *neighbour(0, 1)}; }
};

inline Ring Group::ring() const { return Ring(*this); }

} // namespace plexus::eco
