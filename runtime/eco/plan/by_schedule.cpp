// SPDX-License-Identifier: BSD-3-Clause
// Writes the plan of a schedule: its transfers in the order of rounds, and the messages without content by
// which later transfers wait for earlier ones, or the times until which members hold them back.
#include "plan/builder.h"
#include "plan/link_reservations.h"
#include "plexus/eco/schedule_plan.h"
#include "topology/refuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
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
    if (!supports(kind, request.operation))
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
/// takes in the order of rounds. None where members run asynchronously, or are paced.
class LinkOrder {
  public:
    LinkOrder(const std::vector<Move>& moves, const GroupSchedule& how)
      : moves_(moves)
      , before_(moves.size())
      , after_(moves.size()) {
        const std::uint32_t overlap = how.overlap;
        if (overlap == GroupSchedule::kAsynchronous || how.pace) return;
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
                if (moves[earlier].to != moves[later].from && !is_implied(earlier, later))
                    after_[earlier].push_back(later);
    }

    /// The transfers that this one waits for.
    const std::vector<std::uint32_t>& before(std::uint32_t move) const { return before_[move]; }
    /// The transfers whose senders wait for this one and have to be told.
    const std::vector<std::uint32_t>& after(std::uint32_t move) const { return after_[move]; }

  private:
    [[noreturn]] static void refuse_shared(std::uint32_t link, const Move& a, const Move& b) {
        refuse(Status::bad_argument, "in one round, link {} carries what {} sends to {} and what {} to {}",
               link, a.from, a.to, b.from, b.to);
    }

    void note(std::uint32_t earlier, std::uint32_t later) {
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

/// When each transfer begins and when its receiver takes it. In rounds, on a network in which a transfer
/// occupies its links for one round and arrives `overlap` rounds after that; of paced members in nanoseconds,
/// by the reservations of links. Members have their steps in the order of these times: a member that waits
/// for a permission has taken, and told others of, what came before. Each member sends in the order of
/// rounds, and takes in the order of rounds.
class Timetable {
  public:
    /// Of what is taken after all that its receiver sends.
    static constexpr std::uint64_t kAtTheEnd = UINT64_MAX;

    Timetable(const PlanRequest& request, const std::vector<Move>& moves, const LinkOrder& order,
              const GroupSchedule& how)
      : combines_(reduces(request.operation))
      , moves_(moves)
      , begins_(moves.size())
      , arrives_(moves.size())
      , taken_(moves.size(), kAtTheEnd)
      , sent_to_(request.members) {
        // Where no one waits for a permission, nothing is taken before it is needed or all is sent.
        const bool takes_late = how.overlap == GroupSchedule::kAsynchronous || how.pace;
        std::optional<LinkReservations> links;
        if (how.pace)
            links.emplace(*how.pace, request.elements * request.element_bytes,
                          is_reversed(request, how.schedule.kind));
        std::vector<std::uint64_t> last_begin(request.members);
        std::vector<std::size_t> taken_by(request.members); // how many of sent_to_, if they take late
        for (std::uint32_t move = 0; move < moves.size(); ++move) {
            const Rank from = moves[move].from;
            const Rank to = moves[move].to;
            std::uint64_t begin = last_begin[from];
            for (const std::uint32_t earlier : order.before(move)) begin = std::max(begin, taken_[earlier]);
            if (const std::optional<std::uint32_t> needed = needed_by(moves[move])) {
                if (takes_late) take_until(*needed, begin, taken_by[from]);
                begin = std::max(begin, taken_[*needed]);
            }
            if (links) begin = links->earliest(*moves[move].path, begin);
            arrives_[move] = links        ? links->reserve(*moves[move].path, begin)
                             : takes_late ? begin + 1
                                          : begin + 1 + how.overlap;
            begins_[move] = last_begin[from] = begin;
            if (!takes_late)
                taken_[move] = sent_to_[to].empty() ? arrives_[move]
                                                    : std::max(arrives_[move], taken_[sent_to_[to].back()]);
            sent_to_[to].push_back(move);
            last_with_[key(to, moves[move].block)] = move;
        }
    }

    std::uint64_t begin(std::uint32_t move) const { return begins_[move]; }
    std::uint64_t taken(std::uint32_t move) const { return taken_[move]; }

  private:
    static std::uint64_t key(Rank member, std::uint32_t block) { return std::uint64_t{member} << 32 | block; }

    /// Of blocks that are moved the last transfer that brought this one; of those that are combined the last
    /// of an earlier round.
    std::optional<std::uint32_t> needed_by(const Move& next) const {
        if (!combines_) {
            const auto found = last_with_.find(key(next.from, next.block));
            if (found == last_with_.end() || moves_[found->second].round == next.round) return std::nullopt;
            return found->second;
        }
        const std::vector<std::uint32_t>& all = sent_to_[next.from];
        const auto found = std::find_if(all.rbegin(), all.rend(),
                                        [&](std::uint32_t each) { return moves_[each].round < next.round; });
        return found == all.rend() ? std::nullopt : std::optional(*found);
    }

    /// The receiver takes that transfer, and those before it, from `from` on as soon as they are there.
    void take_until(std::uint32_t last, std::uint64_t from, std::size_t& taken) {
        const std::vector<std::uint32_t>& all = sent_to_[moves_[last].to];
        for (; taken < all.size() && all[taken] <= last; ++taken)
            taken_[all[taken]] = from = std::max(from, arrives_[all[taken]]);
    }

    const bool combines_;
    const std::vector<Move>& moves_;
    std::vector<std::uint64_t> begins_;
    std::vector<std::uint64_t> arrives_;
    std::vector<std::uint64_t> taken_;
    std::vector<std::vector<std::uint32_t>> sent_to_;            ///< the transfers to each member, in order
    std::unordered_map<std::uint64_t, std::uint32_t> last_with_; ///< by receiver and block
};

/// Writes the steps of all members in the order of the timetable: permissions taken, messages sent, messages
/// taken, permissions given; of paced members a barrier before all of them. Everything that is taken was sent
/// before, so that nobody waits for ever.
class ScheduleWriter {
  public:
    ScheduleWriter(const PlanRequest& request, const std::vector<Move>& moves, const GroupSchedule& how)
      : combines_(reduces(request.operation))
      , paced_(how.pace.has_value())
      , moves_(moves)
      , order_(moves, how)
      , times_(request, moves, order_, how)
      , out_(request, 1)
      , permissions_(moves.size())
      , messages_(moves.size()) {}

    Plan write() {
        const std::uint32_t start_messages = paced_ ? meet() : 0;
        struct Event {
            std::uint64_t time;
            bool is_send;
            std::uint32_t move;
            auto operator<=>(const Event&) const = default;
        };
        std::vector<Event> events;
        for (std::uint32_t move = 0; move < moves_.size(); ++move) {
            events.push_back({times_.begin(move), true, move});
            events.push_back({times_.taken(move), false, move});
        }
        std::sort(events.begin(), events.end());
        for (const Event& each : events) each.is_send ? send(each.move) : take(each.move);
        Plan plan = out_.finish();
        if (!paced_) return plan;
        plan.start_messages = start_messages;
        plan.hold_ns.resize(plan.messages.size());
        for (std::uint32_t move = 0; move < moves_.size(); ++move)
            plan.hold_ns[messages_[move]] = times_.begin(move);
        return plan;
    }

  private:
    /// A barrier by dissemination, which members leave at nearly the same time. Returns its messages' number.
    std::uint32_t meet() {
        std::uint32_t count = 0;
        for (Rank distance = 1; distance < out_.members(); distance *= 2) {
            std::vector<std::uint32_t> posted;
            for (Rank member = 0; member < out_.members(); ++member)
                posted.push_back(out_.post(member, (member + distance) % out_.members(), {}));
            for (const std::uint32_t message : posted) out_.take(message);
            count += out_.members();
        }
        return count;
    }

    void send(std::uint32_t number) {
        const Move& move = moves_[number];
        for (const std::uint32_t permission : permissions_[number]) out_.take(permission);
        const Merge merge = !combines_ ? Merge::store : move.from < move.to ? Merge::before : Merge::after;
        messages_[number] = out_.post(move.from, move.to, {{move.block, 1}}, merge);
    }

    void take(std::uint32_t number) {
        out_.take(messages_[number]);
        for (const std::uint32_t later : order_.after(number))
            permissions_[later].push_back(out_.post(moves_[number].to, moves_[later].from, {}));
    }

    const bool combines_;
    const bool paced_;
    const std::vector<Move>& moves_;
    const LinkOrder order_;
    const Timetable times_;
    Builder out_;
    std::vector<std::vector<std::uint32_t>> permissions_; ///< of each transfer: messages it waits for
    std::vector<std::uint32_t> messages_;                 ///< of each transfer
};

} // namespace

bool supports(CollectiveKind kind, Operation operation) noexcept {
    const auto [straight, reversed] = operations_of(kind);
    return operation == straight || operation == reversed;
}

Plan to_plan(const PlanRequest& request, const GroupSchedule& how) {
    if (how.pace && how.overlap != 0)
        refuse(Status::bad_argument, "members that pace themselves have no overlap");
    Plan plan = ScheduleWriter(request, moves_of(request, how), how).write();
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
