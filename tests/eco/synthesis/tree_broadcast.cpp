// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts on trees: valid, of the fewest rounds, and the same number as the bound.
#include "eco/synthesis/random_graph.h"
#include "eco/synthesis/validity.h"
#include "support/catch.h"

#include "plexus/eco/round_schedule.h"
#include "synthesis/tree_broadcast.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

namespace tree_broadcast_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

constexpr std::uint32_t kWork = 1'000'000;

/// The fewest rounds, by trying all sets of transfers round by round.
bool reachable(const LinkGraph& graph, std::set<std::uint32_t> informed, std::uint32_t rounds) {
    const auto n = static_cast<std::uint32_t>(graph.terminals.size());
    if (informed.size() == n) return true;
    if (rounds == 0) return false;
    std::set<std::uint32_t> links;
    std::set<std::uint32_t> senders;
    std::set<std::uint32_t> arrived;
    const std::function<bool(std::uint32_t)> from = [&](std::uint32_t dst) -> bool {
        if (dst == n) {
            std::set<std::uint32_t> next = informed;
            next.insert(arrived.begin(), arrived.end());
            return !arrived.empty() && reachable(graph, next, rounds - 1);
        }
        if (!informed.contains(dst))
            for (const std::uint32_t src : informed) {
                if (graph.ports == Ports::one && senders.contains(src)) continue;
                const LinkPath path = shortest_paths(graph, src, dst, 1).front();
                if (std::any_of(path.begin(), path.end(), [&](auto link) { return links.contains(link); }))
                    continue;
                links.insert(path.begin(), path.end());
                const bool first = senders.insert(src).second;
                arrived.insert(dst);
                if (from(dst + 1)) return true;
                arrived.erase(dst);
                if (first) senders.erase(src);
                for (const std::uint32_t link : path) links.erase(link);
            }
        return from(dst + 1);
    };
    return from(0);
}

} // namespace

TEST_CASE("broadcasts on full binary trees take the rounds of the paper's Table 3") {
    for (const auto& [n, by_level] : {std::pair{7U, std::vector<std::size_t>{3, 2, 2}},
                                      {15U, {3, 3, 3, 3}},
                                      {31U, {4, 4, 4, 4, 4}},
                                      {63U, {5, 5, 5, 5, 5, 5}}}) {
        const LinkGraph graph = named_graph("fbtree-" + std::to_string(n));
        for (std::uint32_t root = 0; root < n; ++root) {
            INFO(n << " from " << root);
            const auto schedule = tree_broadcast(graph, root, kWork);
            REQUIRE(schedule);
            CHECK(fault_of(graph, *schedule).empty());
            const std::size_t depth = std::bit_width(root + 1) - 1U;
            CHECK(schedule->rounds.size() == by_level[by_level.size() - 1 - depth]);
        }
    }
}

TEST_CASE("one-port broadcasts on trees double the informed in every round") {
    for (const char* const name : {"btree-32", "star-13", "karytree-3-3", "karytree-5-3"}) {
        INFO(name);
        const LinkGraph graph = named_graph(name);
        const auto n = static_cast<std::uint32_t>(graph.terminals.size());
        for (const std::uint32_t root : {0U, n / 2, n - 1}) {
            const auto schedule = tree_broadcast(graph, root, kWork);
            REQUIRE(schedule);
            CHECK(fault_of(graph, *schedule).empty());
            CHECK(schedule->rounds.size() == static_cast<std::size_t>(std::bit_width(n - 1)));
        }
    }
}

TEST_CASE("broadcasts on random trees are valid, as short as the bound, and none is shorter") {
    std::mt19937 random(3);
    for (int turn = 0; turn < 300; ++turn) {
        const LinkGraph graph = random_tree(random);
        const auto root = static_cast<std::uint32_t>(random() % graph.terminals.size());
        const auto schedule = tree_broadcast(graph, root, kWork);
        INFO(turn);
        REQUIRE(schedule);
        const auto rounds = static_cast<std::uint32_t>(schedule->rounds.size());
        REQUIRE(fault_of(graph, *schedule).empty());
        REQUIRE(lower_bound(graph, CollectiveKind::oab, root).rounds == rounds);
        if (graph.terminals.size() <= 6) REQUIRE_FALSE(reachable(graph, {root}, rounds - 1));
    }
}

TEST_CASE("a vertex of more neighbours than a balance holds has no programme, and its broadcast is valid") {
    LinkGraph graph = named_graph("star-40");
    graph.ports = Ports::all;
    CHECK_FALSE(tree_broadcast(graph, 0, kWork));
    const SearchResult found = find_schedule(graph, CollectiveKind::oab, 0, {1, {}});
    CHECK(fault_of(graph, found.schedule) == "");
    CHECK(found.schedule.rounds.size() >= found.bound.rounds);
}

TEST_CASE("no broadcast comes of a graph that is no tree, nor without work") {
    CHECK_FALSE(tree_broadcast(named_graph("ring-4"), 0, kWork));
    CHECK_FALSE(tree_broadcast(named_graph("fbtree-31"), 0, 10));
}

} // namespace tree_broadcast_test
