// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/broadcast.h"

#include "synthesis/tabu.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {
namespace {

using Terminals = std::vector<std::uint32_t>;
using GoOn = std::function<bool()>;

/// The most terminals that can have the message after each number of rounds, if no link were in the way.
std::vector<std::size_t> growth(const Routes& routes, std::uint64_t rounds) {
    std::size_t sends = 1;
    if (routes.graph().ports == Ports::all)
        for (const Terminal& each : routes.graph().terminals)
            sends = std::max(sends, routes.leaving(each.in).size());
    std::vector<std::size_t> out{1};
    while (out.size() <= rounds)
        out.push_back(std::min<std::size_t>(out.back() * (1 + sends), routes.terminals()));
    return out;
}

/// One round: some of those who have the message after it have received it in it.
class LastRound {
  public:
    LastRound(const Routes& routes, std::uint32_t root, const Terminals& holders)
      : routes_(routes)
      , root_(root)
      , holders_(holders) {}

    /// Pairs neighbours, for `wanted` receivers or as many as it comes to.
    Round pair_greedily(std::size_t wanted, Random& random, const GoOn& go_on) const {
        Placement taken(routes_);
        std::vector<bool> busy(taken.resources());
        std::vector<bool> sends(routes_.terminals());
        std::vector<bool> receives(routes_.terminals());
        sends[root_] = true; // or at least: it never receives
        Terminals order = holders_;
        random.shuffle(order);
        Round out;
        for (const std::uint32_t receiver : order) {
            if (out.size() == wanted || !go_on()) break;
            if (sends[receiver]) continue;
            for (const std::uint32_t sender : by_distance(receiver, random)) {
                if (receives[sender]) continue;
                taken.begin_task();
                taken.add_ways(sender, receiver,
                               ways_tried(std::size_t{routes_.terminals()} * routes_.terminals()));
                const auto way = free_way(taken, busy);
                if (way == Assignment::kNowhere) continue;
                for (const std::uint32_t resource : taken.used_by(way)) busy[resource] = true;
                sends[sender] = receives[receiver] = true;
                out.push_back(taken.transfer(way));
                break;
            }
        }
        return out;
    }

    /// For `wanted` receivers drawn at random looks for ways from the others. Empty: there was no success.
    Round search(std::size_t wanted, Random& random, const GoOn& go_on) const {
        Terminals order = holders_;
        order.erase(std::find(order.begin(), order.end(), root_));
        random.shuffle(order);
        if (wanted > order.size()) return {};
        const auto end = order.begin() + static_cast<std::ptrdiff_t>(wanted);
        Terminals senders(end, order.end());
        senders.push_back(root_);
        Placement placement(routes_);
        Assignment assignment;
        for (auto receiver = order.begin(); receiver != end; ++receiver) {
            if (!go_on()) return {};
            placement.begin_task();
            for (const std::uint32_t sender : senders)
                placement.add_ways(sender, *receiver, ways_tried(wanted * senders.size()));
            const Task& task = placement.tasks().back();
            assignment.way.push_back(task.first_way + random.below(task.ways));
            assignment.round.push_back(0);
        }
        if (!tabu_search(placement, {.rounds = 1, .patience = 500, .keep_rounds = true}, assignment, random,
                         go_on))
            return {};
        return to_rounds(placement, assignment).front();
    }

  private:
    Terminals by_distance(std::uint32_t receiver, Random& random) const {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
        for (const std::uint32_t sender : holders_) {
            const std::uint64_t distance = routes_.distance(routes_.graph().terminals[sender].in, receiver);
            if (sender != receiver) all.emplace_back(distance << 32 | random.below(1U << 16), sender);
        }
        std::sort(all.begin(), all.end());
        Terminals out;
        for (const auto& [_, sender] : all) out.push_back(sender);
        return out;
    }

    /// Of the last task.
    static std::uint32_t free_way(const Placement& placement, const std::vector<bool>& busy) {
        const Task& task = placement.tasks().back();
        for (std::uint32_t way = task.first_way; way < task.first_way + task.ways; ++way) {
            const auto used = placement.used_by(way);
            if (std::none_of(used.begin(), used.end(), [&](std::uint32_t each) { return busy[each]; }))
                return way;
        }
        return Assignment::kNowhere;
    }

    const Routes& routes_;
    std::uint32_t root_;
    const Terminals& holders_;
};

} // namespace

std::vector<Round> broadcast_backwards(const Routes& routes, std::uint32_t root, std::uint64_t wanted,
                                       Random& random, const GoOn& go_on) {
    const auto most_after = growth(routes, wanted);
    Terminals holders(routes.terminals());
    std::iota(holders.begin(), holders.end(), 0U);
    std::vector<Round> out;
    while (holders.size() > 1) {
        if (!go_on()) return {};
        const std::uint64_t left = wanted > out.size() ? wanted - out.size() : 1;
        const std::size_t most = std::min(most_after[left - 1], holders.size() - 1);
        const std::size_t least = std::max<std::size_t>(1, most / 2); // some slack for the rounds before
        const bool tight = routes.graph().ports == Ports::one || random.below(2) == 0;
        const std::size_t receivers =
            holders.size() - (tight ? most : least + random.below(most - least + 1));
        const LastRound last(routes, root, holders);
        Round best;
        constexpr int kDraws = 8;
        for (int draw = 0; draw < kDraws && best.size() < receivers; ++draw) {
            Round round = draw % 2 == 0 ? last.pair_greedily(receivers, random, go_on)
                                        : last.search(receivers, random, go_on);
            if (round.size() > best.size()) best = std::move(round);
        }
        if (best.empty()) return {}; // only where go_on said false
        for (const Transfer& each : best) holders.erase(std::find(holders.begin(), holders.end(), each.dst));
        for (Transfer& each : best) each.msg = root;
        out.push_back(std::move(best));
    }
    std::reverse(out.begin(), out.end());
    return out;
}

} // namespace plexus::eco
