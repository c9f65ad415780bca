// SPDX-License-Identifier: BSD-3-Clause
// Grids on groups: a shift is a schedule of at most one message out and one in.
#include "plexus/eco/grid.h"

#include "group/group_state.h"
#include "topology/refuse.h"

#include <algorithm>
#include <limits>

namespace plexus::eco {

Grid::Grid(Group group, GridShape shape)
  : group_(std::move(group))
  , shape_(std::move(shape))
  , member_at_(arrange(shape_, group_.size(), [this](Rank a, Rank b) { return group_.cost_us(a, b); })) {
    const auto found = std::find(member_at_.begin(), member_at_.end(), group_.rank());
    auto place = static_cast<std::uint64_t>(found - member_at_.begin());
    mine_.resize(shape_.lengths.size());
    for (std::size_t dimension = mine_.size(); dimension-- > 0;) {
        mine_[dimension] = static_cast<Rank>(place % shape_.lengths[dimension]);
        place /= shape_.lengths[dimension];
    }
}

Ring::Ring(Group group)
  : Grid(group, {{group.size()}, {true}}) {}

Rank Grid::rank_at(std::span<const Rank> coordinates) const {
    if (coordinates.size() != mine_.size())
        refuse(Status::bad_argument, "{} coordinates in a grid of {} dimensions", coordinates.size(),
               mine_.size());
    std::uint64_t place = 0;
    for (std::size_t dimension = 0; dimension < mine_.size(); ++dimension) {
        if (coordinates[dimension] >= shape_.lengths[dimension])
            refuse(Status::bad_argument, "there is no place {} in dimension {} of length {}",
                   coordinates[dimension], dimension, shape_.lengths[dimension]);
        place = place * shape_.lengths[dimension] + coordinates[dimension];
    }
    return member_at_[place];
}

std::optional<Rank> Grid::neighbour(std::size_t dimension, std::int64_t steps) const {
    if (dimension >= mine_.size())
        refuse(Status::bad_argument, "there is no dimension {} in a grid of {}", dimension, mine_.size());
    const auto length = static_cast<std::int64_t>(shape_.lengths[dimension]);
    std::int64_t at = mine_[dimension] + steps % length;
    const bool round = !shape_.periodic.empty() && shape_.periodic[dimension];
    if (!round && (steps >= length || steps <= -length || at < 0 || at >= length)) return std::nullopt;
    at = (at + length) % length;
    std::vector<Rank> coordinates = mine_;
    coordinates[dimension] = static_cast<Rank>(at);
    return rank_at(coordinates);
}

/// As far the other way: there is no number opposite to the least.
std::int64_t Grid::opposite(std::size_t dimension, std::int64_t steps) const {
    if (steps != std::numeric_limits<std::int64_t>::min()) return -steps;
    const auto length = static_cast<std::int64_t>(shape_.lengths[dimension]);
    const bool round = !shape_.periodic.empty() && shape_.periodic[dimension];
    return round ? -(steps % length) : std::numeric_limits<std::int64_t>::max();
}

Future<void> Grid::start_shift(std::size_t dimension, std::int64_t steps, std::span<const std::byte> out,
                               std::span<std::byte> in) const {
    const std::optional<Rank> to = neighbour(dimension, steps);
    const std::optional<Rank> from = neighbour(dimension, opposite(dimension, steps));
    const std::shared_ptr<detail::GroupState>& group = group_.state();
    auto planned = std::make_shared<detail::PlannedCall>();
    planned->signature.shifts = true;
    planned->signature.algorithm = plexus::detail::mix(dimension + 1, static_cast<std::uint64_t>(steps));
    planned->digest = planned->signature.digest();
    planned->piece_bytes = group->planner().piece_bytes();
    detail::Schedule& schedule = planned->schedule;
    const auto add = [&](Rank peer, bool send, detail::Space space, std::uint64_t bytes) {
        schedule.ops.push_back(
            {peer, 0, send, Merge::store, static_cast<std::uint32_t>(schedule.segments.size()), 1, bytes});
        schedule.segments.push_back({space, 0, bytes});
    };
    const bool alone = to == group->me();
    if (alone) {
        if (out.size() != in.size())
            refuse(Status::bad_argument, "a shift to this member itself, of {} bytes into {}", out.size(),
                   in.size());
        schedule.before.push_back(
            {{detail::Space::send, 0, out.size()}, {detail::Space::receive, 0, in.size()}});
    } else {
        if (to) add(*to, true, detail::Space::send, out.size());
        if (from) {
            add(*from, false, detail::Space::receive, in.size());
            schedule.op_of_slot.push_back(static_cast<std::uint32_t>(schedule.ops.size() - 1));
        }
    }
    detail::CollectiveArgs args;
    args.send = out.data();
    args.receive = in.data();
    return group->start(std::move(planned), args);
}

} // namespace plexus::eco
