// SPDX-License-Identifier: BSD-3-Clause
// The fast search: the paper's tables at their bounds, networks that nobody named, and schedules that are
// valid however the search ends.
#include "eco/synthesis/random_graph.h"
#include "eco/synthesis/validity.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "synthesis/random.h"

#include "plexus/error.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace find_schedule_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

constexpr auto kLong = std::chrono::seconds(60);

/// A search that ends at the bound or, for want of luck, after kLong.
SearchResult found(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root, std::uint64_t seed) {
    const auto end = std::chrono::steady_clock::now() + kLong;
    return find_schedule(graph, kind, root, {seed, [end](const SearchProgress&) {
                                                 return std::chrono::steady_clock::now() < end;
                                             }});
}

/// The seconds of processor time that the search took.
double check_optimal(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root, std::uint64_t seed,
                     std::string_view name) {
    const std::clock_t start = std::clock();
    const SearchResult result = found(graph, kind, root, seed);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    INFO(name << " " << to_string(kind) << " root " << root << " seed " << seed << ": "
              << result.bound.reason);
    CHECK(result.schedule.rounds.size() == result.bound.rounds);
    CHECK(fault_of(graph, result.schedule) == "");
    return seconds;
}

/// Times are promised of optimised code alone.
#if defined(__OPTIMIZE__)
constexpr bool kTimed = !kSanitized;
#else
constexpr bool kTimed = false;
#endif

/// The same network with its terminals, and its links, in another order.
LinkGraph relabelled(LinkGraph graph, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::shuffle(graph.terminals.begin(), graph.terminals.end(), random);
    std::shuffle(graph.links.begin(), graph.links.end(), random);
    graph.name.clear();
    return graph;
}

/// Messages leave at other places than those they have in the omega network.
LinkGraph without_identity(std::string_view name, std::uint32_t seed) {
    LinkGraph graph = named_graph(name);
    std::mt19937 random(seed);
    std::vector<std::uint32_t> outs;
    for (const Terminal& each : graph.terminals) outs.push_back(each.out);
    std::shuffle(outs.begin(), outs.end(), random);
    for (std::size_t each = 0; each < outs.size(); ++each) graph.terminals[each].out = outs[each];
    graph.name.clear();
    return graph;
}

std::uint32_t vertex(LinkGraph& graph, const std::string& name) {
    graph.vertices.push_back(name);
    return static_cast<std::uint32_t>(graph.vertices.size() - 1);
}

void both_ways(LinkGraph& graph, std::uint32_t a, std::uint32_t b) {
    graph.links.push_back({a, b});
    graph.links.push_back({b, a});
}

/// `leaves` switches of `hosts` terminals under `spines` switches.
LinkGraph leaves_and_spines(std::uint32_t leaves, std::uint32_t hosts, std::uint32_t spines) {
    LinkGraph graph;
    for (std::uint32_t spine = 0; spine < spines; ++spine) vertex(graph, "spine" + std::to_string(spine));
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        const std::uint32_t at = vertex(graph, "leaf" + std::to_string(leaf));
        for (std::uint32_t spine = 0; spine < spines; ++spine) both_ways(graph, spine, at);
        for (std::uint32_t host = 0; host < hosts; ++host) {
            const std::uint32_t terminal = vertex(graph, "h" + std::to_string(leaf * hosts + host));
            both_ways(graph, at, terminal);
            graph.terminals.push_back({terminal, terminal});
        }
    }
    return graph;
}

/// Two stages of 3x3 switches.
LinkGraph threes() {
    LinkGraph graph;
    for (std::uint32_t each = 0; each < 9; ++each) {
        vertex(graph, "in" + std::to_string(each));
        vertex(graph, "out" + std::to_string(each)); // 2 * each, 2 * each + 1
    }
    for (std::uint32_t each = 0; each < 3; ++each) vertex(graph, "a" + std::to_string(each)); // 18 ...
    for (std::uint32_t each = 0; each < 3; ++each) vertex(graph, "b" + std::to_string(each)); // 21 ...
    for (std::uint32_t each = 0; each < 9; ++each) {
        graph.links.push_back({2 * each, 18 + each / 3});
        graph.links.push_back({18 + each / 3, 21 + each % 3});
        graph.links.push_back({21 + each / 3, 2 * each + 1});
        graph.terminals.push_back({2 * each, 2 * each + 1});
    }
    return graph;
}

LinkGraph large_tree(std::uint32_t vertices, std::uint32_t seed, bool everywhere, Ports ports) {
    std::mt19937 random(seed);
    LinkGraph graph;
    std::vector<std::uint32_t> degree(vertices);
    for (std::uint32_t each = 0; each < vertices; ++each) {
        vertex(graph, "v" + std::to_string(each));
        if (each == 0) continue;
        const auto parent = static_cast<std::uint32_t>(random() % each);
        both_ways(graph, parent, each);
        ++degree[parent];
        ++degree[each];
    }
    for (std::uint32_t each = 0; each < vertices; ++each)
        if (everywhere || degree[each] == 1) graph.terminals.push_back({each, each});
    graph.ports = ports;
    return graph;
}

} // namespace

TEST_CASE("every row of the paper's Tables 1 and 3 is at its bound, by ten seeds, all in a second") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        double seconds = 0;
        for (const char* name : {"omega-8", "omega-16", "butterfly-8", "butterfly-16", "clos-12", "clos-16",
                                 "btree-4", "btree-8", "btree-16", "btree-32", "ftree-4", "ftree-8",
                                 "ftree-16", "ftree-32", "fbtree-7", "fbtree-15", "fbtree-31", "fbtree-63"}) {
            const LinkGraph graph = named_graph(name);
            const bool by_level = std::string_view(name).starts_with("fbtree");
            const auto n = static_cast<std::uint32_t>(graph.terminals.size());
            for (const CollectiveKind kind : kCollectiveKinds) {
                const bool rooted = kind == CollectiveKind::oab || kind == CollectiveKind::oas;
                for (std::uint32_t root = 0; root < (by_level && rooted ? n : 1); root = 2 * root + 1)
                    seconds += check_optimal(graph, kind, root, seed, name);
            }
        }
        if (kTimed) CHECK(seconds < 1);
    }
}

TEST_CASE("networks that nobody named are at their bounds") {
    const std::pair<const char*, LinkGraph> graphs[] = {
        {"relabelled omega", relabelled(named_graph("omega-16"), 1)},
        {"relabelled fat tree", relabelled(named_graph("ftree-16"), 2)},
        {"relabelled large fat tree", relabelled(named_graph("ftree-32"), 3)},
        {"relabelled Clos network", relabelled(named_graph("clos-4-5-6"), 4)},
        {"relabelled binary tree", relabelled(named_graph("btree-32"), 5)},
        {"omega without identity", without_identity("omega-16", 6)},
        {"butterfly without identity", without_identity("butterfly-16", 7)},
        {"3x3 switches", threes()},
        {"mesh", named_graph("mesh-4x4")},
        {"hypercube", named_graph("cube-4")},
        {"relabelled hypercube", relabelled(named_graph("cube-4"), 8)},
        {"torus", named_graph("torus-4x4")},
        {"ring", named_graph("ring-9")},
        {"star", named_graph("star-12")},
        {"ternary tree", named_graph("karytree-3-2")},
        {"oversubscribed tree", leaves_and_spines(4, 6, 1)},
        {"oversubscribed leaves and spines", leaves_and_spines(4, 4, 2)},
    };
    for (const auto& [name, graph] : graphs)
        for (const CollectiveKind kind : kCollectiveKinds) check_optimal(graph, kind, 1, 1, name);
}

TEST_CASE("random trees are at their bounds") {
    for (std::uint32_t seed = 1; seed <= 12; ++seed)
        for (const CollectiveKind kind : kCollectiveKinds) {
            const Ports ports = seed % 2 == 0 ? Ports::one : Ports::all;
            check_optimal(large_tree(20 + 2 * seed, seed, seed % 3 == 0, ports), kind, 0, seed,
                          "random tree");
        }
}

TEST_CASE("trees of 127 and 128 terminals and an omega network of 64 are at their bounds in ten seconds") {
    for (const auto& [name, graph] : {std::pair{"everywhere", large_tree(127, 3, true, Ports::all)},
                                      {"binary", named_graph("btree-128")},
                                      {"omega", named_graph("omega-64")}})
        for (const CollectiveKind kind : kCollectiveKinds) {
            const double seconds = check_optimal(graph, kind, 0, 1, name);
            if (kTimed) CHECK(seconds < 10);
        }
}

TEST_CASE("an all-port network of 256 terminals is near its bound after one attempt") {
    const LinkGraph graph = named_graph("cube-8");
    std::uint32_t asked = 0; // for each pair, each delivery, and each receiver in each round
    const SearchResult result = find_schedule(graph, CollectiveKind::aab, 0,
                                              {1, [&](const SearchProgress&) { return ++asked < 300'000; }});
    CHECK(result.bound.rounds == 32);
    CHECK(result.schedule.rounds.size() <= 40); // round a ring it is 255
}

TEST_CASE("a search that is told to end at once takes less time than a bound") {
    const LinkGraph graph = named_graph("mesh-16x16");
    const auto seconds_of = [](const auto& what) {
        const std::clock_t start = std::clock();
        what();
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    SearchResult result;
    const double least = seconds_of([&] {
        result =
            find_schedule(graph, CollectiveKind::aas, 0, {1, [](const SearchProgress&) { return false; }});
    });
    std::size_t transfers = 0;
    for (const Round& round : result.schedule.rounds) transfers += round.size();
    CHECK(transfers == 65'280);
    const double whole = seconds_of([&] { lower_bound(graph, CollectiveKind::aas, 0); });
    INFO(least << " s without any search, " << whole << " s for the bound alone");
    if (kTimed) CHECK(least < whole);
}

TEST_CASE("small graphs of every sort have valid schedules, never below the bound") {
    std::mt19937 random(21);
    for (int turn = 0; turn < 300; ++turn) {
        const LinkGraph graph = random_graph(random);
        const auto root = static_cast<std::uint32_t>(random() % graph.terminals.size());
        for (const CollectiveKind kind : kCollectiveKinds) {
            std::uint32_t asked = 0;
            const SearchResult result = find_schedule(
                graph, kind, root, {1, [&asked](const SearchProgress&) { return ++asked < 200; }});
            INFO(turn << " " << to_string(kind) << " " << result.bound.reason);
            if (result.schedule.rounds.empty()) continue; // it was told to end before it had one
            REQUIRE(fault_of(graph, result.schedule) == "");
            REQUIRE(result.schedule.rounds.size() >= result.bound.rounds);
        }
    }
}

TEST_CASE("a ring serves every terminal, also where a terminal could accept from two") {
    LinkGraph graph;
    for (int each = 0; each < 10; ++each) graph.vertices.push_back(std::to_string(each));
    graph.links = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 0}, {1, 4},
                   {5, 4}, {0, 6}, {3, 2}, {6, 5}, {2, 6}, {2, 7}, {8, 4}, {9, 5}};
    graph.terminals = {{6, 0}, {1, 1}, {2, 7}, {8, 4}, {9, 5}};
    graph.ports = Ports::all;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::uint32_t asked = 0;
        const SearchResult result =
            find_schedule(graph, CollectiveKind::aab, 0,
                          {seed, [&asked](const SearchProgress&) { return ++asked < 3000; }});
        CHECK(fault_of(graph, result.schedule) == "");
    }
}

TEST_CASE("terminals with all ports get a ring where those with one port do") {
    // A directed ring with chords: what one port allows is found with all ports as well.
    constexpr std::uint32_t kTerminals = 24;
    Random random(1);
    LinkGraph graph;
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (std::uint32_t each = 0; each < kTerminals; ++each) {
        graph.vertices.push_back(std::to_string(each));
        graph.terminals.push_back({each, each});
        links.insert({each, (each + 1) % kTerminals});
    }
    while (links.size() < kTerminals + 20) {
        const std::uint32_t from = 1 + random.below(kTerminals - 1);
        const std::uint32_t to = 2 + random.below(kTerminals - 2);
        if (from != to) links.insert({from, to});
    }
    for (const auto& [from, to] : links) graph.links.push_back({from, to});
    std::size_t with_one = 0;
    for (const Ports ports : {Ports::one, Ports::all}) {
        graph.ports = ports;
        std::uint32_t asked = 0;
        const SearchResult result = find_schedule(
            graph, CollectiveKind::aab, 0, {1, [&asked](const SearchProgress&) { return ++asked < 3000; }});
        CHECK(fault_of(graph, result.schedule) == "");
        if (ports == Ports::one) with_one = result.schedule.rounds.size();
        CHECK(result.schedule.rounds.size() <= with_one);
    }
}

TEST_CASE("a search that is told to end has a valid schedule, whatever the network") {
    for (const std::uint32_t asks : {0U, 1U, 2U, 5U, 40U})
        for (const char* name : {"cube-4", "karytree-3-3", "clos-4-2-4", "torus-5x5"})
            for (const CollectiveKind kind : kCollectiveKinds) {
                std::uint32_t asked = 0;
                const LinkGraph graph = named_graph(name);
                const SearchResult result = find_schedule(
                    graph, kind, 0, {1, [&](const SearchProgress&) { return ++asked <= asks; }});
                INFO(name << " " << to_string(kind) << " after " << asks);
                CHECK(fault_of(graph, result.schedule) == "");
                CHECK(result.schedule.rounds.size() >= result.bound.rounds);
            }
}

TEST_CASE("a search that was told to end does not ask again") {
    for (const char* name : {"cube-4", "clos-4-2-4", "mesh-1x20"})
        for (const CollectiveKind kind : kCollectiveKinds)
            for (const std::uint32_t most : {0U, 3U, 30U}) {
                std::uint32_t asked = 0;
                find_schedule(named_graph(name), kind, 0,
                              {1, [&](const SearchProgress&) { return ++asked <= most; }});
                INFO(name << " " << to_string(kind) << " after " << most);
                CHECK(asked <= most + 1);
            }
}

TEST_CASE("a thousand attempts without a shorter schedule end a search that cannot reach its bound") {
    const LinkGraph graph{"",
                          {"a", "b", "c", "d", "e", "f"},
                          {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {1, 4}},
                          {{0, 0}, {1, 1}, {2, 2}, {4, 4}, {5, 5}},
                          Ports::all};
    std::uint32_t asked = 0;
    const SearchResult result = find_schedule(
        graph, CollectiveKind::oab, 0, {1, [&asked](const SearchProgress&) { return ++asked < 1'000'000; }});
    CHECK(fault_of(graph, result.schedule) == "");
    CHECK(result.bound.rounds == 2);
    CHECK(result.schedule.rounds.size() == 3);
    CHECK(result.tries > 1000);
    CHECK(result.tries < 1100);
}

TEST_CASE("the same seed finds the same schedule") {
    for (const char* name : {"btree-16", "cube-3", "clos-12"})
        for (const CollectiveKind kind : kCollectiveKinds) {
            const LinkGraph graph = named_graph(name);
            CHECK(find_schedule(graph, kind, 0, {5, {}}).schedule ==
                  find_schedule(graph, kind, 0, {5, {}}).schedule);
        }
}

TEST_CASE("a search that is stopped has a whole schedule, whenever that is") {
    const LinkGraph graph = named_graph("mesh-1x60");
    for (const std::uint64_t most : {0U, 1U, 50U, 500U, 2000U}) {
        std::uint64_t asked = 0;
        const SearchResult result =
            find_schedule(graph, CollectiveKind::aas, 0,
                          {1, [&asked, most](const SearchProgress&) { return asked++ < most; }});
        CHECK(fault_of(graph, result.schedule) == "");
        CHECK(result.schedule.rounds.size() >= result.bound.rounds);
    }
}

TEST_CASE("a schedule's time is that of equation (1)") {
    // the paper's example: 1 us, 0.5 ns a byte, 1024 bytes
    RoundSchedule two{CollectiveKind::oab, 0, std::vector<Round>(2)};
    CHECK(std::abs(round_time_s(two, 1024, 1e-6, 0.5e-9) - 3.024e-6) < 1e-15);
}

} // namespace find_schedule_test
