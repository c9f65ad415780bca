// SPDX-License-Identifier: BSD-3-Clause
// lower_bound() against the known values of the paper's networks, against schedules made by hand, and under
// renaming.
#include "eco/synthesis/random_graph.h"
#include "support/catch.h"

#include "plexus/eco/round_schedule.h"
#include "plexus/error.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sys/resource.h>

namespace bound_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

constexpr auto kOab = CollectiveKind::oab;
constexpr auto kAab = CollectiveKind::aab;
constexpr auto kOas = CollectiveKind::oas;
constexpr auto kAas = CollectiveKind::aas;

/// The most memory that this process has had.
long most_kib() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

std::uint64_t bound_of(std::string_view name, CollectiveKind kind, std::uint32_t root = 0) {
    const RoundBound bound = lower_bound(named_graph(name), kind, root);
    INFO(name << " " << to_string(kind) << " " << bound.reason);
    CHECK_FALSE(bound.reason.empty());
    return bound.rounds;
}

/// The rounds of a schedule in which each message goes in the first round that has room for it.
std::uint64_t first_fit(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root) {
    const auto terminals = static_cast<std::uint32_t>(graph.terminals.size());
    const bool of_one = kind == kOab || kind == kOas;
    const bool forwards = kind == kOab || kind == kAab;
    std::vector<std::set<std::pair<char, std::uint32_t>>> taken; // links, senders and acceptors of a round
    const auto fits = [&](std::size_t round, const std::set<std::pair<char, std::uint32_t>>& needs) {
        if (taken.size() <= round) taken.resize(round + 1);
        return std::none_of(needs.begin(), needs.end(),
                            [&](const auto& each) { return taken[round].contains(each); });
    };
    for (std::uint32_t msg = of_one ? root : 0; msg < (of_one ? root + 1 : terminals); ++msg) {
        std::vector<std::uint32_t> holders{msg};
        std::vector<std::size_t> from_round(terminals, 0);
        for (std::uint32_t dst = 0; dst < terminals; ++dst) {
            if (dst == msg) continue;
            bool sent = false;
            for (std::size_t round = 0; !sent; ++round)
                for (const std::uint32_t src : holders) {
                    if (sent || from_round[src] > round) continue;
                    for (const LinkPath& path : shortest_paths(graph, src, dst, 3)) {
                        std::set<std::pair<char, std::uint32_t>> needs;
                        for (const std::uint32_t link : path) needs.insert({'l', link});
                        if (graph.ports == Ports::one) needs.insert({{'s', src}, {'a', dst}});
                        if (!fits(round, needs)) continue;
                        taken[round].insert(needs.begin(), needs.end());
                        from_round[dst] = round + 1;
                        sent = true;
                        break;
                    }
                }
            if (forwards) holders.push_back(dst);
        }
    }
    return taken.size();
}

/// The same network with other numbers for everything; `root` is renamed, too.
LinkGraph renamed(const LinkGraph& graph, std::mt19937& random, std::uint32_t& root) {
    std::vector<std::uint32_t> place(graph.vertices.size());
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), random);
    LinkGraph out = graph;
    out.name.clear();
    for (std::uint32_t each = 0; each < place.size(); ++each)
        out.vertices[place[each]] = graph.vertices[each];
    for (DirectedLink& each : out.links) each = {place[each.from], place[each.to]};
    std::shuffle(out.links.begin(), out.links.end(), random);
    for (Terminal& each : out.terminals) each = {place[each.in], place[each.out]};
    const Terminal first = out.terminals[root];
    std::shuffle(out.terminals.begin(), out.terminals.end(), random);
    root = static_cast<std::uint32_t>(std::find(out.terminals.begin(), out.terminals.end(), first) -
                                      out.terminals.begin());
    return out;
}

} // namespace

TEST_CASE("bounds of unidirectional networks are those of the paper's Table 1") {
    for (const auto& [name, n, oab] : {std::tuple{"omega-8", 8U, 3U},
                                       {"omega-16", 16U, 4U},
                                       {"butterfly-8", 8U, 3U},
                                       {"butterfly-16", 16U, 4U},
                                       {"clos-12", 12U, 4U},
                                       {"clos-16", 16U, 4U}}) {
        CHECK(bound_of(name, kOab) == oab);
        CHECK(bound_of(name, kAab) == n - 1);
        CHECK(bound_of(name, kOas) == n - 1);
        CHECK(bound_of(name, kAas) == n - 1);
    }
}

TEST_CASE("bounds of trees with processors at the leaves") {
    for (const auto& [n, oab] : {std::pair{4U, 2U}, {8U, 3U}, {16U, 4U}, {32U, 5U}}) {
        const std::string size = std::to_string(n);
        CHECK(bound_of("btree-" + size, kOab) == oab);
        CHECK(bound_of("btree-" + size, kAab) == n - 1);
        CHECK(bound_of("btree-" + size, kOas) == n - 1);
        CHECK(bound_of("btree-" + size, kAas) == n * n / 4);
        CHECK(bound_of("ftree-" + size, kOab) == oab);
        CHECK(bound_of("ftree-" + size, kAab) == n - 1);
        CHECK(bound_of("ftree-" + size, kOas) == n - 1);
        CHECK(bound_of("ftree-" + size, kAas) == n - 1);
    }
}

TEST_CASE("bounds of full binary trees, by level of the root") {
    CHECK(bound_of("fbtree-7", kAab) == 6);
    CHECK(bound_of("fbtree-15", kAab) == 14);
    CHECK(bound_of("fbtree-31", kAab) == 30);
    CHECK(bound_of("fbtree-63", kAab) == 62);
    CHECK(bound_of("fbtree-7", kAas) == 12);
    CHECK(bound_of("fbtree-15", kAas) == 56);
    CHECK(bound_of("fbtree-31", kAas) == 240);
    CHECK(bound_of("fbtree-63", kAas) == 992);
    const auto by_level = [](std::uint32_t n, CollectiveKind kind) {
        std::vector<std::uint64_t> out; // from the leaves
        for (std::uint32_t first = n / 2;; first = (first - 1) / 2) {
            out.push_back(bound_of("fbtree-" + std::to_string(n), kind, first));
            if (first == 0) return out;
        }
    };
    using Rows = std::vector<std::uint64_t>;
    CHECK(by_level(7, kOas) == Rows{6, 4, 3});
    CHECK(by_level(15, kOas) == Rows{14, 12, 8, 7});
    CHECK(by_level(31, kOas) == Rows{30, 28, 24, 16, 15});
    CHECK(by_level(63, kOas) == Rows{62, 60, 56, 48, 32, 31});
    CHECK(by_level(7, kOab) == Rows{3, 2, 2});
    CHECK(by_level(15, kOab) == Rows{3, 3, 3, 3});
    CHECK(by_level(31, kOab) == Rows{4, 4, 4, 4, 4});
    CHECK(by_level(63, kOab) == Rows{5, 5, 5, 5, 5, 5});
}

TEST_CASE("weights of links prove what no port and no single link does") {
    CHECK(bound_of("cube-4", kAas) == 8);
    CHECK(bound_of("mesh-4x4", kAas) == 16);
    CHECK(bound_of("mesh-8x8", kAas) == 128);
    CHECK(lower_bound(named_graph("cube-4"), kAas, 0).reason.find("link") != std::string::npos);
}

TEST_CASE("messages that are passed on all cross a link that every way to the nearest terminal has") {
    LinkGraph bus; // from each terminal to "before", over one link to "behind", and from there to each
    bus.vertices = {"a", "b", "c", "d", "before", "behind"};
    bus.links = {{4, 5}};
    for (std::uint32_t each = 0; each < 4; ++each) {
        bus.terminals.push_back({each, each});
        bus.links.insert(bus.links.end(), {{each, 4}, {5, each}});
    }
    for (const Ports ports : {Ports::one, Ports::all}) {
        bus.ports = ports;
        CHECK(lower_bound(bus, kAab, 0).rounds == 12);
        CHECK(find_schedule(bus, kAab, 0, {1, {}}).schedule.rounds.size() == 12);
    }
}

TEST_CASE("an omega network that cannot route the identity takes one round more") {
    LinkGraph graph = named_graph("omega-8");
    // Now no message of a terminal to itself uses some link between the stages, which 8 others cross.
    std::swap(graph.terminals[1].out, graph.terminals[4].out);
    graph.name.clear();
    CHECK(lower_bound(graph, kAas, 0).rounds == 8);
    CHECK(lower_bound(graph, kAab, 0).rounds == 7);
}

TEST_CASE("no terminal's own message counts as one that it accepts") {
    for (const char* name : {"omega-8", "butterfly-8", "clos-2-2-4"}) {
        LinkGraph graph = named_graph(name);
        graph.ports = Ports::all;
        CHECK(lower_bound(graph, kAab, 0).rounds == 7);
    }
}

TEST_CASE("what a terminal accepts elsewhere and passes on comes over no link to its surroundings") {
    // Terminal 0 accepts from terminal 1, which ends among the others, and over one link from these.
    LinkGraph graph;
    graph.vertices = {"centre", "begin", "end", "a", "b", "c", "d", "before"};
    graph.links = {{1, 0}, {3, 7}, {7, 0}, {3, 2}, {4, 2}};
    graph.terminals = {{0, 0}, {1, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}};
    for (std::uint32_t other = 3; other < 7; ++other) {
        graph.links.push_back({0, other});
        graph.links.push_back({1, other});
        for (std::uint32_t to = 3; to < 7; ++to)
            if (to != other) graph.links.push_back({other, to});
    }
    graph.ports = Ports::all;
    CHECK(lower_bound(graph, kAab, 0).rounds == 3);
    CHECK(find_schedule(graph, kAab, 0, {1, {}}).schedule.rounds.size() == 3);
}

TEST_CASE("a bound names what proves it") {
    CHECK(lower_bound(named_graph("star-2"), kAab, 0).reason == "terminal 0 accepts 1 message on one link");
    CHECK(lower_bound(named_graph("cube-1"), kOas, 0).reason == "terminal 0 sends 1 message on one link");
    CHECK(lower_bound(named_graph("omega-16"), kAab, 0).reason ==
          "terminal 0 accepts 15 messages on one link");
    CHECK(lower_bound(named_graph("omega-16"), kAas, 0).reason ==
          "terminal 0 accepts 15 messages on one link");
    CHECK(lower_bound(named_graph("btree-32"), kAas, 0).reason.find("256 messages") == 0);
    LinkGraph mesh = named_graph("mesh-2x2");
    CHECK(lower_bound(mesh, kOas, 0).rounds == 2);
    mesh.ports = Ports::one;
    CHECK(lower_bound(mesh, kOas, 0).rounds == 3);
    CHECK(lower_bound(mesh, kOas, 0).reason == "terminal 0 sends 3 messages on one port");
    CHECK(lower_bound(mesh, kAab, 0).reason == "terminal 0 accepts 3 messages on one port");
}

TEST_CASE("a bound is never above the rounds of a schedule") {
    std::mt19937 random(12);
    for (int turn = 0; turn < 1500; ++turn) {
        const LinkGraph graph = random_graph(random);
        const auto root = static_cast<std::uint32_t>(random() % graph.terminals.size());
        for (const CollectiveKind kind : kCollectiveKinds) {
            const RoundBound bound = lower_bound(graph, kind, root);
            INFO(turn << " " << to_string(kind) << ": " << bound.reason);
            REQUIRE(bound.rounds >= 1);
            REQUIRE(bound.rounds <= first_fit(graph, kind, root));
        }
    }
}

TEST_CASE("a bound does not depend on names and numbers") {
    std::mt19937 random(13);
    for (int turn = 0; turn < 300; ++turn) {
        const LinkGraph graph =
            turn < 3 ? named_graph(std::vector{"ftree-8", "mesh-3x4", "clos-2-3-3"}[std::size_t(turn)])
                     : random_graph(random);
        const auto root = static_cast<std::uint32_t>(random() % graph.terminals.size());
        std::uint32_t other_root = root;
        const LinkGraph other = renamed(graph, random, other_root);
        for (const CollectiveKind kind : kCollectiveKinds) {
            INFO(turn << " " << to_string(kind));
            REQUIRE(lower_bound(graph, kind, root).rounds == lower_bound(other, kind, other_root).rounds);
        }
    }
}

TEST_CASE("bounds of a graph with ways of 65,536 links need little time and memory") {
    LinkGraph ring;
    ring.ports = Ports::all;
    constexpr std::uint32_t kVertices = 65'536;
    for (std::uint32_t each = 0; each < kVertices; ++each) {
        ring.vertices.push_back(std::to_string(each));
        ring.links.push_back({each, (each + 1) % kVertices});
    }
    ring.terminals = {{0, 0}, {1, 1}};
    // With a set of weights for each distance it was 17 GB.
    const long before = most_kib();
    for (const CollectiveKind kind : kCollectiveKinds) CHECK(lower_bound(ring, kind, 0).rounds == 1);
    CHECK(most_kib() - before < 1 << 20);
}

TEST_CASE("a root that is not there is refused") {
    CHECK_THROWS_AS(lower_bound(named_graph("star-4"), kOab, 4), plexus::Error);
    CHECK_THROWS_AS(lower_bound(named_graph("star-4"), kOas, 4), plexus::Error);
}

} // namespace bound_test
