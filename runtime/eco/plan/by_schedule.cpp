// SPDX-License-Identifier: BSD-3-Clause
// Writes the plan of a schedule: its transfers in the order of rounds, and the messages without content by
// which later transfers wait for earlier ones.
#include "plan/builder.h"
#include "plexus/eco/schedule_plan.h"
#include "topology/refuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace plexus::eco {
namespace {

/// A transfer between members, in the direction of the call.
struct Move {
    Rank from;
    Rank to;
    std::uint32_t block;
    std::uint32_t round;
    const LinkPath* path;
};

/// The operations that a kind of schedule serves: as it is, and reversed.
std::pair<Operation, std::optional<Operation>> operations_of(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::oab:
        return {Operation::broadcast, Operation::reduce};
    case CollectiveKind::aab:
        return {Operation::all_gather, std::nullopt};
    case CollectiveKind::oas:
        return {Operation::scatter, Operation::gather};
    case CollectiveKind::aas:
        break;
    }
    return {Operation::all_to_all, std::nullopt};
}

/// True: the schedule runs from its end to its beginning.
bool is_reversed(const PlanRequest& request, CollectiveKind kind) {
    const auto [straight, reversed] = operations_of(kind);
    if (request.operation != straight && request.operation != reversed)
        refuse(Status::unsupported, "a schedule of {} is for {}{}{}, not for {}", to_string(kind),
               to_string(straight), reversed ? " and " : "", reversed ? to_string(*reversed) : "",
               to_string(request.operation));
    return request.operation != straight;
}

std::vector<Rank> members_at_terminals(const PlanRequest& request, const GroupSchedule& how) {
    std::vector<Rank> ranks = how.ranks_of_terminals;
    if (ranks.empty())
        for (Rank member = 0; member < request.members; ++member) ranks.push_back(member);
    if (ranks.size() != request.members)
        refuse(Status::bad_argument, "ranks of {} terminals for a group of {} members", ranks.size(),
               request.members);
    std::vector<char> seen(request.members);
    for (const Rank rank : ranks) {
        if (rank >= request.members)
            refuse(Status::bad_argument, "a terminal is to be member {}, of {}", rank, request.members);
        if (std::exchange(seen[rank], 1) != 0)
            refuse(Status::bad_argument, "member {} is to be at two terminals", rank);
    }
    return ranks;
}

/// What a transfer carries, among the blocks of the operation.
std::uint32_t block_of(const PlanRequest& request, Rank from, Rank to, Rank origin) {
    switch (request.operation) {
    case Operation::scatter:
        return to;
    case Operation::gather:
        return from;
    case Operation::all_gather:
        return origin;
    case Operation::all_to_all:
        return from * request.members + to;
    default: // the one vector
        return 0;
    }
}

/// In the order in which they run.
std::vector<Move> moves_of(const PlanRequest& request, const GroupSchedule& how) {
    const RoundSchedule& schedule = how.schedule;
    const bool reversed = is_reversed(request, schedule.kind);
    const std::vector<Rank> ranks = members_at_terminals(request, how);
    const auto member_at = [&](std::uint32_t terminal) {
        if (terminal >= ranks.size())
            refuse(Status::bad_argument, "the schedule has a terminal {}, and the group {} members", terminal,
                   ranks.size());
        return ranks[terminal];
    };
    const bool one_root = schedule.kind == CollectiveKind::oab || schedule.kind == CollectiveKind::oas;
    if (one_root && member_at(schedule.root) != request.root)
        refuse(Status::bad_argument, "the root of the schedule is member {}, that of the {} is {}",
               member_at(schedule.root), to_string(request.operation), request.root);
    const bool direct = schedule.kind == CollectiveKind::oas || schedule.kind == CollectiveKind::aas;
    const auto rounds = static_cast<std::uint32_t>(schedule.rounds.size());
    std::vector<Move> moves;
    for (std::uint32_t number = 0; number < rounds; ++number)
        for (const Transfer& each : schedule.rounds[reversed ? rounds - 1 - number : number]) {
            const Rank from = member_at(reversed ? each.dst : each.src);
            const Rank to = member_at(reversed ? each.src : each.dst);
            const Rank origin = member_at(each.msg);
            if (direct ? each.msg != each.src : one_root && each.msg != schedule.root)
                refuse(Status::bad_argument, "a transfer of the {} carries the message of member {}",
                       to_string(schedule.kind), origin);
            moves.push_back({from, to, block_of(request, from, to, origin), number, &each.path});
        }
    return moves;
}

/// For each transfer those that have to have arrived before it begins, the last of each receiver alone: it
/// takes in the order of rounds.
class LinkOrder {
  public:
    LinkOrder(const std::vector<Move>& moves, std::uint32_t overlap)
      : moves_(moves)
      , before_(moves.size())
      , after_(moves.size()) {
        if (overlap == GroupSchedule::kAsynchronous) return;
        std::map<std::uint32_t, std::vector<std::uint32_t>> users; // of each link, in order
        for (std::uint32_t later = 0; later < moves.size(); ++later) {
            if (moves[later].path->empty())
                refuse(Status::bad_argument,
                       "member {} sends to {} over no link: such a schedule can only "
                       "run asynchronously",
                       moves[later].from, moves[later].to);
            for (const std::uint32_t link : *moves[later].path) {
                std::vector<std::uint32_t>& order = users[link];
                if (!order.empty() && moves[order.back()].round == moves[later].round)
                    refuse_shared(link, moves[order.back()], moves[later]);
                if (order.size() > overlap) note(order[order.size() - 1 - overlap], later);
                order.push_back(later);
            }
        }
        for (std::uint32_t later = 0; later < moves.size(); ++later)
            for (const std::uint32_t earlier : before_[later])
                if (!is_implied(earlier, later)) after_[earlier].push_back(later);
    }

    /// The transfers whose senders wait for this one.
    const std::vector<std::uint32_t>& after(std::uint32_t move) const { return after_[move]; }

  private:
    [[noreturn]] static void refuse_shared(std::uint32_t link, const Move& a, const Move& b) {
        refuse(Status::bad_argument, "in one round, link {} carries what {} sends to {} and what {} to {}",
               link, a.from, a.to, b.from, b.to);
    }

    void note(std::uint32_t earlier, std::uint32_t later) {
        if (moves_[earlier].to == moves_[later].from) return; // it takes that before
        for (std::uint32_t& each : before_[later])
            if (moves_[each].to == moves_[earlier].to) {
                each = std::max(each, earlier);
                return;
            }
        before_[later].push_back(earlier);
    }

    /// Another that has to have arrived began after the earlier one had.
    bool is_implied(std::uint32_t earlier, std::uint32_t later) const {
        return std::any_of(before_[later].begin(), before_[later].end(), [&](std::uint32_t between) {
            const std::vector<std::uint32_t>& known = before_[between];
            return std::find(known.begin(), known.end(), earlier) != known.end();
        });
    }

    const std::vector<Move>& moves_;
    std::vector<std::vector<std::uint32_t>> before_;
    std::vector<std::vector<std::uint32_t>> after_;
};

/// Writes the steps of all members, round by round: permissions taken, messages sent, messages of `overlap`
/// rounds before taken, permissions given. Everything that is taken in a place was sent in an earlier one, so
/// that nobody waits for ever.
class ScheduleWriter {
  public:
    ScheduleWriter(const PlanRequest& request, const std::vector<Move>& moves, std::uint32_t overlap)
      : combines_(reduces(request.operation))
      , moves_(moves)
      , overlap_(overlap)
      , order_(moves, overlap)
      , out_(request, 1)
      , pending_(request.members)
      , permissions_(moves.size())
      , messages_(moves.size()) {}

    Plan write() {
        const auto count = static_cast<std::uint32_t>(moves_.size());
        for (std::uint32_t first = 0, end = 0; first < count; first = end) {
            const std::uint32_t round = moves_[first].round;
            while (end < count && moves_[end].round == round) ++end;
            for (std::uint32_t move = first; move < end; ++move) send(move);
            for (std::uint32_t move = first; move < end; ++move) pending_[moves_[move].to].push_back(move);
            for (; oldest_ < end && moves_[oldest_].round + std::uint64_t{overlap_} <= round; ++oldest_)
                take_until(oldest_);
        }
        for (; oldest_ < count; ++oldest_) take_until(oldest_);
        return out_.finish();
    }

  private:
    void send(std::uint32_t number) {
        const Move& move = moves_[number];
        take_what_it_needs(move);
        for (const std::uint32_t permission : permissions_[number]) out_.take(permission);
        const Merge merge = !combines_ ? Merge::store : move.from < move.to ? Merge::before : Merge::after;
        messages_[number] = out_.post(move.from, move.to, {{move.block, 1}}, merge);
    }

    /// Of blocks that are moved the one; of those that are combined all that came.
    void take_what_it_needs(const Move& next) {
        const std::vector<std::uint32_t>& pending = pending_[next.from];
        const auto found = std::find_if(pending.rbegin(), pending.rend(), [&](std::uint32_t each) {
            return combines_ || moves_[each].block == next.block;
        });
        if (found != pending.rend()) take_until(*found);
    }

    /// That transfer, and all before it that its receiver has not taken yet.
    void take_until(std::uint32_t last) {
        std::vector<std::uint32_t>& pending = pending_[moves_[last].to];
        std::size_t taken = 0;
        for (; taken < pending.size() && pending[taken] <= last; ++taken) take(pending[taken]);
        pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(taken));
    }

    void take(std::uint32_t number) {
        out_.take(messages_[number]);
        for (const std::uint32_t later : order_.after(number))
            permissions_[later].push_back(out_.post(moves_[number].to, moves_[later].from, {}));
    }

    const bool combines_;
    const std::vector<Move>& moves_;
    const std::uint32_t overlap_;
    const LinkOrder order_;
    Builder out_;
    std::vector<std::vector<std::uint32_t>> pending_;     ///< of each member: sent to it, not taken yet
    std::vector<std::vector<std::uint32_t>> permissions_; ///< of each transfer: messages it waits for
    std::vector<std::uint32_t> messages_;                 ///< of each transfer
    std::uint32_t oldest_ = 0;                            ///< transfers before it are taken
};

} // namespace

Plan to_plan(const PlanRequest& request, const GroupSchedule& how) {
    Plan plan = ScheduleWriter(request, moves_of(request, how), how.overlap).write();
    const Proof proof = prove(plan);
    if (!proof)
        refuse(Status::bad_argument, "the schedule is no {} of {} members: {}", to_string(request.operation),
               request.members, proof.broken);
    if (reduces(request.operation) && !request.commutative && !proof.rank_order)
        refuse(Status::unsupported, "the schedule does not combine in the order of ranks, as this operation "
                                    "has to be that does not commute");
    return plan;
}

} // namespace plexus::eco
