// SPDX-License-Identifier: BSD-3-Clause
// The simulator of wormhole switching: times that can be counted by hand, and what blocks whom.
#include "eco/plan/round_schedules.h"
#include "support/catch.h"

#include "plexus/error.h"
#include "tools/schedule/play.h"

namespace play_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;
using namespace plexus::tools::schedule;
using Catch::Matchers::Contains;

namespace {

Transfer over(const LinkGraph& graph, std::uint32_t src, std::uint32_t dst, std::uint32_t msg) {
    return {src, dst, msg, shortest_paths(graph, src, dst, 1).front()};
}

/// Four switches in a directed ring, each with a terminal: the way from i to i + 3 has the links of three
/// others.
LinkGraph directed_ring() {
    LinkGraph graph;
    graph.ports = Ports::all;
    for (std::uint32_t each = 0; each < 4; ++each) {
        graph.vertices.push_back("v" + std::to_string(each));
        graph.links.push_back({each, (each + 1) % 4});
        graph.terminals.push_back({each, each});
    }
    return graph;
}

} // namespace

TEST_CASE("a message that nobody blocks takes a cycle for each link and one for each further flit") {
    const LinkGraph star = named_graph("star-4");
    const Played one = play(star, {{over(star, 0, 1, 0)}}, {10, false});
    CHECK(one.cycles == 11); // two links
    CHECK(one.blocked == 0);
    CHECK(one.deadlock.empty());
    REQUIRE(one.transfers.size() == 1);
    CHECK(one.transfers[0].begun == 0);
    CHECK(one.transfers[0].ended == 11);

    const LinkGraph tree = named_graph("btree-16");
    CHECK(play(tree, {{over(tree, 0, 15, 0)}}, {10, false}).cycles == 17); // eight
    CHECK(play(tree, {{over(tree, 0, 15, 0)}, {}, {over(tree, 0, 15, 0)}}, {10, false}).cycles == 34);
}

TEST_CASE("a head waits in place with its links until the last flit of the other has arrived") {
    const LinkGraph star = named_graph("star-4");
    // Both want to enter 1; 0 -> 1 comes first, and holds nothing that 3 -> 2 wants.
    const Played two =
        play(star, {{over(star, 0, 1, 0), over(star, 2, 1, 2), over(star, 3, 2, 3)}}, {10, false});
    CHECK(two.blocked == 10); // there at 1, free at 11
    CHECK(two.cycles == 21);
    REQUIRE(two.transfers.size() == 3);
    CHECK(two.transfers[0].place == 0);
    CHECK(two.transfers[2].place == 1);
    CHECK(two.transfers[2].blocked == 10);
    CHECK(two.transfers[2].begun == 0);
    CHECK(two.transfers[2].ended == 21);

    // 0 -> 2 waits behind 1 -> 2, and 0 -> 3 behind 0 -> 2, which holds the link of 0.
    const LinkGraph tree = named_graph("btree-4");
    const Played chain =
        play(tree, {{over(tree, 1, 2, 1), over(tree, 0, 2, 0), over(tree, 0, 3, 0)}}, {10, false});
    CHECK(chain.cycles == 13 + 12 + 13);
}

TEST_CASE("who has waited longest gets a link first") {
    const LinkGraph star = named_graph("star-5");
    const Played three =
        play(star, {{over(star, 0, 4, 0), over(star, 2, 4, 2), over(star, 1, 4, 1)}}, {5, false});
    REQUIRE(three.transfers.size() == 3);
    for (std::uint32_t place = 0; place < 3; ++place) CHECK(three.transfers[place].place == place);
    CHECK(three.cycles == 6 + 5 + 5);
}

TEST_CASE("a valid schedule in lockstep never blocks; pairwise exchange in rank order does") {
    for (const std::string_view name : {"btree-8", "btree-16", "karytree-4-2", "star-6"}) {
        const LinkGraph graph = named_graph(name);
        const RoundSchedule schedule = first_fit_aas(graph);
        const Played played = play(graph, schedule.rounds, {64, false});
        CHECK(played.blocked == 0);
        CHECK(played.deadlock.empty());
        for (const PlayedTransfer& each : played.transfers) CHECK(each.blocked == 0);
    }
    for (const std::string_view name : {"omega-8", "clos-12", "fbtree-7", "torus-4x4"})
        for (const CollectiveKind kind : kCollectiveKinds) {
            const LinkGraph graph = named_graph(name);
            const RoundSchedule found = find_schedule(graph, kind, 0, {}).schedule;
            INFO(name << " " << to_string(kind));
            CHECK(play(graph, found.rounds, {16, false}).blocked == 0);
            // Ways in a torus can close a circle, where no rounds keep them apart.
            if (name != "torus-4x4") CHECK(play(graph, found.rounds, {16, true}).deadlock.empty());
        }
    const LinkGraph tree = named_graph("btree-16");
    const Played pairs = play(tree, pairwise_exchange(tree), {64, false});
    CHECK(pairs.deadlock.empty());
    CHECK(pairs.blocked > 64 * 64);
    CHECK(play(tree, pairwise_exchange(tree), {64, true}).blocked > 64 * 64);
    const Played scheduled =
        play(tree, find_schedule(tree, CollectiveKind::aas, 0, {}).schedule.rounds, {64, false});
    CHECK(scheduled.cycles < pairs.cycles);
}

TEST_CASE("a million transfers in rounds of a thousand are played in lockstep") {
    const LinkGraph star = named_graph("star-1024");
    std::vector<std::uint32_t> in(1024);
    std::vector<std::uint32_t> out(1024);
    std::vector<std::uint32_t> terminal_at(star.vertices.size(), 1024); // 1024: the switch
    for (std::uint32_t each = 0; each < 1024; ++each) terminal_at[star.terminals[each].in] = each;
    for (std::uint32_t link = 0; link < star.links.size(); ++link) {
        const std::uint32_t from = terminal_at[star.links[link].from];
        if (from < 1024) {
            in[from] = link;
        } else {
            out[terminal_at[star.links[link].to]] = link;
        }
    }
    std::vector<Round> rounds(1023);
    for (std::uint32_t round = 0; round < 1023; ++round)
        for (std::uint32_t src = 0; src < 1024; ++src) {
            const std::uint32_t dst = (src + round + 1) % 1024;
            rounds[round].push_back({src, dst, src, {in[src], out[dst]}});
        }
    // With an entry for each two transfers of successive rounds it was 4 GB.
    const Played played = play(star, rounds, {4, false});
    CHECK(played.transfers.size() == 1024 * 1023);
    CHECK(played.blocked == 0);
    CHECK(played.cycles == 1023 * 5);
}

TEST_CASE("pairwise exchange has every pair once, for any number of terminals") {
    for (const std::string_view name : {"btree-8", "star-6", "star-2"}) {
        const LinkGraph graph = named_graph(name);
        const std::size_t n = graph.terminals.size();
        std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (const Round& round : pairwise_exchange(graph)) {
            CHECK(round.size() == n);
            for (const Transfer& each : round) pairs.insert({each.src, each.dst});
        }
        CHECK(pairs.size() == n * (n - 1));
    }
}

TEST_CASE("asynchronous, a terminal goes on when it is done, and passes on what it has") {
    const LinkGraph star = named_graph("star-4");
    // 0 -> 1, then 0 -> 2; 1 -> 3 passes on the message of 0 without waiting for the second round.
    const std::vector<Round> rounds{{over(star, 0, 1, 0)}, {over(star, 0, 2, 0)}, {over(star, 1, 3, 0)}};
    CHECK(play(star, rounds, {10, true}).cycles == 22);
    CHECK(play(star, rounds, {10, false}).cycles == 33);
    const Played never = play(star, {{over(star, 1, 3, 0)}}, {10, true});
    CHECK(never.transfers.empty());
    CHECK_THAT(never.deadlock,
               Contains("1 -> 3 (message of 0) waits for a message that its source never gets"));
    const Played circle = play(star, {{over(star, 1, 2, 0)}, {over(star, 2, 1, 0)}}, {10, true});
    CHECK_THAT(circle.deadlock, Contains("wait for messages that wait for them"));
}

TEST_CASE("messages that wait for each other for ever are found and named") {
    const LinkGraph ring = directed_ring();
    Round all;
    for (std::uint32_t src = 0; src < 4; ++src) all.push_back(over(ring, src, (src + 3) % 4, src));
    const Played stuck = play(ring, {all}, {100, false});
    CHECK(stuck.transfers.empty());
    CHECK_THAT(stuck.deadlock,
               Contains("3 -> 2 waits for 0 -> 3 waits for 1 -> 0 waits for 2 -> 1 waits for 3 -> 2"));
    all.resize(2);
    CHECK(play(ring, {all}, {100, false}).deadlock.empty());
}

TEST_CASE("what cannot be played is refused") {
    const LinkGraph star = named_graph("star-4");
    Transfer wrong = over(star, 0, 1, 0);
    CHECK_THROWS_WITH(play(star, {{wrong}}, {0, false}), Contains("at least one flit"));
    std::swap(wrong.path[0], wrong.path[1]);
    CHECK_THROWS_WITH(play(star, {{wrong}}, {}), Contains("does not hold together"));
    wrong = over(star, 0, 1, 0);
    wrong.dst = 2;
    CHECK_THROWS_WITH(play(star, {{wrong}}, {}), Contains("does not lead to its destination"));
    wrong.path.clear();
    CHECK_THROWS_WITH(play(star, {{wrong}}, {}), Contains("does not lead"));
    wrong.dst = 9;
    CHECK_THROWS_WITH(play(star, {{wrong}}, {}), Contains("terminals 0 to 3"));
    wrong = over(star, 0, 1, 0);
    wrong.path[1] = 99;
    CHECK_THROWS_WITH(play(star, {{wrong}}, {}), Contains("does not hold together"));
}

} // namespace play_test
