// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/ring.h"

#include "synthesis/tabu.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {
namespace {

using Order = std::vector<std::uint32_t>;
using GoOn = std::function<bool()>;

/// Terminals as a depth-first walk from terminal 0 leaves its vertices' subtrees.
Order walk(const Routes& routes) {
    const LinkGraph& graph = routes.graph();
    std::vector<std::uint32_t> terminal_at(graph.vertices.size(), Assignment::kNowhere);
    for (std::uint32_t each = 0; each < graph.terminals.size(); ++each)
        terminal_at[graph.terminals[each].out] = each;
    std::vector<bool> seen(graph.vertices.size());
    std::vector<std::uint32_t> stack;
    Order out;
    for (std::uint32_t first = 0; first < graph.terminals.size(); ++first) {
        stack.push_back(graph.terminals[first].in);
        while (!stack.empty()) {
            const std::uint32_t vertex = stack.back();
            stack.pop_back();
            if (seen[vertex]) continue;
            seen[vertex] = true;
            if (terminal_at[vertex] != Assignment::kNowhere) out.push_back(terminal_at[vertex]);
            const auto links = routes.leaving(vertex);
            for (auto link = links.rbegin(); link != links.rend(); ++link)
                stack.push_back(graph.links[*link].to);
        }
    }
    return out;
}

std::optional<Round> along(const Routes& routes, const Order& order, Random& random, const GoOn& go_on) {
    Placement placement(routes);
    for (std::size_t at = 0; at < order.size(); ++at) {
        placement.begin_task();
        placement.add_ways(order[at], order[(at + 1) % order.size()], ways_tried(order.size()));
    }
    Assignment assignment;
    assignment.round.assign(order.size(), 0);
    for (const Task& each : placement.tasks()) assignment.way.push_back(each.first_way);
    if (!tabu_search(placement, {.rounds = 1, .patience = 1000, .keep_rounds = true}, assignment, random,
                     go_on))
        return std::nullopt;
    return to_rounds(placement, assignment).front();
}

/// Permutations of one round, turned into one cycle by exchanges of two receivers.
class RingSearch {
  public:
    /// `go_on` as attempt() has it: once it says false there is no attempt.
    RingSearch(const Routes& routes, const GoOn& go_on)
      : placement_(routes, Ports::one) // in a ring each terminal sends to one and accepts from one
      , first_way_(std::size_t{routes.terminals()} * routes.terminals() + 1) {
        for (std::uint32_t src = 0; src < routes.terminals() && go_on(); ++src) {
            placement_.begin_task();
            for (std::uint32_t dst = 0; dst < routes.terminals(); ++dst) {
                if (dst != src) placement_.add_ways(src, dst, ways_tried(first_way_.size()));
                first_way_[std::size_t{src} * routes.terminals() + dst + 1] = placement_.ways();
            }
        }
    }

    std::optional<Round> attempt(Random& random, const GoOn& go_on) {
        if (placement_.tasks().size() < terminals()) return std::nullopt;
        assignment_ = {};
        assignment_.round.assign(terminals(), 0);
        for (const Task& each : placement_.tasks())
            assignment_.way.push_back(each.first_way + random.below(each.ways));
        if (!tabu_search(placement_, {.rounds = 1, .patience = 1000, .keep_rounds = true}, assignment_,
                         random, go_on))
            return std::nullopt;
        busy_.assign(placement_.resources(), 0);
        for (const std::uint32_t way : assignment_.way) occupy(way, 1);
        while (find_cycles() > 1)
            if (!go_on() || !join_two(random)) return std::nullopt;
        return to_rounds(placement_, assignment_).front();
    }

  private:
    std::uint32_t terminals() const noexcept { return placement_.routes().terminals(); }
    std::uint32_t next(std::uint32_t terminal) const noexcept {
        return placement_.dst(assignment_.way[terminal]);
    }

    void occupy(std::uint32_t way, int change) {
        for (const std::uint32_t resource : placement_.used_by(way)) busy_[resource] += change;
    }

    std::uint32_t find_cycles() {
        cycle_.assign(terminals(), Assignment::kNowhere);
        std::uint32_t cycles = 0;
        for (std::uint32_t first = 0; first < terminals(); ++first) {
            if (cycle_[first] != Assignment::kNowhere) continue;
            for (std::uint32_t at = first; cycle_[at] == Assignment::kNowhere; at = next(at))
                cycle_[at] = cycles;
            ++cycles;
        }
        return cycles;
    }

    bool join_two(Random& random) {
        Order order(terminals());
        std::iota(order.begin(), order.end(), 0U);
        random.shuffle(order);
        for (const std::uint32_t a : order)
            for (const std::uint32_t b : order)
                if (a < b && cycle_[a] != cycle_[b] && exchange(a, b)) return true;
        return false;
    }

    /// a sends to b's receiver and b to a's, if there are ways.
    bool exchange(std::uint32_t a, std::uint32_t b) {
        const std::uint32_t old_a = assignment_.way[a];
        const std::uint32_t old_b = assignment_.way[b];
        occupy(old_a, -1);
        occupy(old_b, -1);
        if (take(a, placement_.dst(old_b))) {
            if (take(b, placement_.dst(old_a))) return true;
            occupy(assignment_.way[a], -1);
        }
        assignment_.way[a] = old_a;
        assignment_.way[b] = old_b;
        occupy(old_a, 1);
        occupy(old_b, 1);
        return false;
    }

    bool take(std::uint32_t src, std::uint32_t dst) {
        const std::size_t pair = std::size_t{src} * terminals() + dst;
        for (std::uint32_t way = first_way_[pair]; way < first_way_[pair + 1]; ++way) {
            const auto used = placement_.used_by(way);
            if (std::any_of(used.begin(), used.end(), [this](std::uint32_t each) { return busy_[each] > 0; }))
                continue;
            assignment_.way[src] = way;
            occupy(way, 1);
            return true;
        }
        return false;
    }

    Placement placement_;                  ///< a task for each sender, with the ways to all others
    std::vector<std::uint32_t> first_way_; ///< [src * terminals + dst], and the end
    Assignment assignment_;
    std::vector<int> busy_;            ///< of each resource: transfers
    std::vector<std::uint32_t> cycle_; ///< of each terminal
};

} // namespace

std::optional<Round> simple_ring(const Routes& routes, Random& random, const GoOn& go_on) {
    Order numbers(routes.terminals());
    std::iota(numbers.begin(), numbers.end(), 0U);
    for (const Order& order : {walk(routes), numbers})
        if (auto round = along(routes, order, random, go_on)) return round;
    return std::nullopt;
}

std::optional<Round> search_ring(const Routes& routes, Random& random, const GoOn& go_on) {
    constexpr int kRingAttempts = 100;
    RingSearch rings(routes, go_on);
    for (int attempt = 0; attempt < kRingAttempts && go_on(); ++attempt)
        if (auto round = rings.attempt(random, go_on)) return round;
    return std::nullopt;
}

} // namespace plexus::eco
