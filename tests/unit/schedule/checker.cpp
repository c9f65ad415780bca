// SPDX-License-Identifier: BSD-3-Clause
// The checker takes valid schedules and names the one rule that a changed one breaks.
#include "tools/schedule/checker.h"

#include "plexus/error.h"
#include "support/catch.h"

#include <functional>

namespace checker_test {

using namespace plexus::eco;
using namespace plexus::tools::schedule;

namespace {

/// Terminals p0, p1, p2 at a switch; terminal i sends on link 2 i + 1 and accepts on link 2 i.
LinkGraph star() { return named_graph("star-3"); }

Transfer across(std::uint32_t src, std::uint32_t dst, std::uint32_t msg) {
    return {src, dst, msg, {2 * src + 1, 2 * dst}};
}

RoundSchedule all_of_star(CollectiveKind kind) {
    return {kind,
            0,
            {{across(0, 1, 0), across(1, 2, 1), across(2, 0, 2)},
             {across(0, 2, 0), across(1, 0, 1), across(2, 1, 2)}}};
}

RoundSchedule broadcast_on_star() { return {CollectiveKind::oab, 0, {{across(0, 1, 0)}, {across(1, 2, 0)}}}; }

RoundSchedule scatter_on_star() { return {CollectiveKind::oas, 0, {{across(0, 1, 0)}, {across(0, 2, 0)}}}; }

using Change = std::function<void(LinkGraph&, RoundSchedule&)>;

void check_refused(RoundSchedule schedule, const std::string& reason, const Change& change) {
    LinkGraph graph = star();
    REQUIRE(violation(graph, schedule, std::nullopt) == std::nullopt);
    change(graph, schedule);
    CHECK(violation(graph, schedule, std::nullopt).value_or("it is taken") == reason);
}

} // namespace

TEST_CASE("schedules that the search finds are valid, whatever the network and the collective") {
    for (const char* name :
         {"omega-8", "clos-12", "btree-8", "ftree-8", "fbtree-7", "ring-5", "mesh-2x3", "cube-3"})
        for (const CollectiveKind kind : kCollectiveKinds) {
            INFO(name << " " << to_string(kind));
            const LinkGraph graph = named_graph(name);
            const std::uint32_t root = kind == CollectiveKind::oab || kind == CollectiveKind::oas ? 2 : 0;
            SearchOptions options;
            options.go_on = [](const SearchProgress& progress) { return progress.tries < 20; };
            const SearchResult found = find_schedule(graph, kind, root, options);
            REQUIRE(!found.schedule.rounds.empty());
            CHECK(violation(graph, found.schedule, found.bound.rounds) == std::nullopt);
        }
}

TEST_CASE("a schedule with a message too many, too early, missing or from elsewhere is refused") {
    const RoundSchedule all = all_of_star(CollectiveKind::aab);
    check_refused(all, "rounds[2] is empty", [](auto&, auto& schedule) { schedule.rounds.emplace_back(); });
    check_refused(all, "rounds[0][1]: src 1, dst 3 and msg 1 are not all terminals: there are 0 to 2",
                  [](auto&, auto& schedule) { schedule.rounds[0][1].dst = 3; });
    check_refused(all, "rounds[0][0]: terminal 0 sends to itself",
                  [](auto&, auto& schedule) { schedule.rounds[0][0].dst = 0; });
    check_refused(all, "terminal 1 is never sent the message of terminal 2",
                  [](auto&, auto& schedule) { schedule.rounds[1].pop_back(); });
    check_refused(all, "rounds[2][0]: terminal 1 is sent the message of terminal 0 a second time",
                  [](auto&, auto& schedule) { schedule.rounds.push_back({across(2, 1, 0)}); });
    check_refused(all, "rounds[2][0]: terminal 0 is sent its own message",
                  [](auto&, auto& schedule) { schedule.rounds.push_back({across(1, 0, 0)}); });
    check_refused(broadcast_on_star(),
                  "rounds[0][0]: terminal 1 sends the message of terminal 0 before it has it",
                  [](auto&, auto& schedule) { std::swap(schedule.rounds[0], schedule.rounds[1]); });
    check_refused(broadcast_on_star(),
                  "rounds[0][1]: terminal 1 sends the message of terminal 0 in the round in which it arrives",
                  [](auto&, auto& schedule) {
                      schedule.rounds = {{across(0, 1, 0), across(1, 2, 0)}};
                  });
    check_refused(broadcast_on_star(), "rounds[1][0]: message 1 is not the root's, which is 0",
                  [](auto&, auto& schedule) { schedule.rounds[1][0].msg = 1; });
    check_refused(broadcast_on_star(), "root 3 is no terminal: there are 0 to 2",
                  [](auto&, auto& schedule) { schedule.root = 3; });
    check_refused(broadcast_on_star(), "terminal 2 is never sent the message of terminal 0",
                  [](auto&, auto& schedule) { schedule.rounds.pop_back(); });
    check_refused(scatter_on_star(),
                  "rounds[1][0]: terminal 1 forwards the message of terminal 0, and a scatter goes direct",
                  [](auto&, auto& schedule) { schedule.rounds[1][0] = across(1, 2, 0); });
    check_refused(all_of_star(CollectiveKind::aas),
                  "rounds[1][0]: terminal 1 forwards the message of terminal 0, and a scatter goes direct",
                  [](auto&, auto& schedule) { schedule.rounds[1][0] = across(1, 2, 0); });
}

TEST_CASE("a path that is not a shortest one between its terminals is refused") {
    const RoundSchedule all = all_of_star(CollectiveKind::aab);
    const auto with_path = [](LinkPath path) {
        return [path = std::move(path)](auto&, auto& schedule) { schedule.rounds[0][0].path = path; };
    };
    check_refused(all, "rounds[0][0]: the path is missing", with_path({}));
    check_refused(all, "rounds[0][0]: link 6 is not in the network", with_path({1, 6}));
    check_refused(all, "rounds[0][0]: the path begins at p2, and terminal 0 at p0", with_path({5, 2}));
    check_refused(all, "rounds[0][0]: the path ends at p2, and terminal 1 at p1", with_path({1, 4}));
    check_refused(all, "rounds[0][0]: the path is broken: p0 to s0 is followed by p1 to s0",
                  with_path({1, 3, 2}));
    check_refused(all, "rounds[0][0]: the path has 4 links, and a shortest one 2", with_path({1, 4, 5, 2}));
}

TEST_CASE("two transfers of a round share no link and no port of a one-port terminal") {
    check_refused(all_of_star(CollectiveKind::aab),
                  "rounds[0][3]: the link from p0 to s0 is used by two transfers of this round",
                  [](auto&, auto& schedule) {
                      schedule.rounds[0].push_back(schedule.rounds[1][0]);
                      schedule.rounds[1].erase(schedule.rounds[1].begin());
                  });
    LinkGraph ring = named_graph("ring-3"); // 0 > 1, 1 > 0, 1 > 2, 2 > 1, 2 > 0, 0 > 2
    const RoundSchedule both_ways{CollectiveKind::oas, 0, {{{0, 1, 0, {0}}, {0, 2, 0, {5}}}}};
    CHECK(violation(ring, both_ways, 1) == std::nullopt);
    const RoundSchedule two_arrive{CollectiveKind::aab, 0, {{{1, 0, 1, {1}}, {2, 0, 2, {4}}}}};
    CHECK(violation(ring, two_arrive, std::nullopt) == "terminal 1 is never sent the message of terminal 0");
    ring.ports = Ports::one;
    CHECK(violation(ring, both_ways, 1) ==
          "rounds[0][1]: terminal 0 sends a second message in this round, and is one-port");
    CHECK(violation(ring, two_arrive, std::nullopt) ==
          "rounds[0][1]: terminal 0 accepts a second message in this round, and is one-port");
}

TEST_CASE("a bound above the number of rounds is refused, one below is not") {
    const RoundSchedule all = all_of_star(CollectiveKind::aas);
    CHECK(violation(star(), all, 1) == std::nullopt);
    CHECK(violation(star(), all, 2) == std::nullopt);
    CHECK(violation(star(), all, 3) == "the bound 3 is above the 2 rounds that it has");
}

TEST_CASE("a network for which there are no schedules is refused") {
    const RoundSchedule all = all_of_star(CollectiveKind::aab);
    check_refused(all, "the network has 1 terminals, and a schedule needs two or more",
                  [](auto& graph, auto&) { graph.terminals.resize(1); });
    check_refused(all, "link 6 is there twice or leads to its start",
                  [](auto& graph, auto&) { graph.links.push_back(graph.links.front()); });
    check_refused(all, "link 6 is there twice or leads to its start", [](auto& graph, auto&) {
        graph.links.push_back({1, 1});
    });
    check_refused(all, "link 6 has no end", [](auto& graph, auto&) { graph.links.push_back({1, 9}); });
    check_refused(all, "no way leads from terminal 2 to terminal 0",
                  [](auto& graph, auto&) { graph.links.pop_back(); });
    check_refused(all, "two terminals begin at vertex p0 or end at p0",
                  [](auto& graph, auto&) { graph.terminals.push_back(graph.terminals.front()); });
}

TEST_CASE("a missing path is found where one shortest path exists, and asked for where several do") {
    RoundSchedule all = all_of_star(CollectiveKind::aab);
    for (Round& round : all.rounds)
        for (Transfer& each : round) each.path.clear();
    CHECK(with_paths(star(), all) == all_of_star(CollectiveKind::aab));
    const RoundSchedule open{CollectiveKind::oas, 0, {{{0, 1, 0, {}}}, {{0, 2, 0, {}}}}};
    try {
        with_paths(named_graph("ring-4"), open);
        FAIL("it chose one");
    } catch (const plexus::Error& error) {
        CHECK(error.status() == plexus::Status::bad_argument);
        CHECK(std::string(error.what()) ==
              "rounds[1][0].path is missing, and 2 shortest paths lead from terminal 0 to terminal 2");
    }
    const RoundSchedule wrong{CollectiveKind::oas, 0, {{{0, 9, 0, {}}}}};
    CHECK(with_paths(star(), wrong) == wrong);
}

TEST_CASE("missing paths that are too long together are refused") {
    LinkGraph ring;
    constexpr std::uint32_t kVertices = 65'536;
    for (std::uint32_t each = 0; each < kVertices; ++each) {
        ring.vertices.push_back(std::to_string(each));
        ring.links.push_back({each, (each + 1) % kVertices});
    }
    ring.terminals = {{0, 0}, {kVertices - 1, kVertices - 1}};
    RoundSchedule schedule{CollectiveKind::aas, 0, {Round(10, Transfer{0, 1, 0, {}})}};
    CHECK(with_paths(ring, schedule).rounds[0][9].path.size() == kVertices - 1);
    schedule.rounds[0].resize(1100, schedule.rounds[0][0]);
    try {
        with_paths(ring, schedule);
        FAIL("it made them");
    } catch (const plexus::Error& error) { CHECK(error.status() == plexus::Status::too_large); }
}

TEST_CASE("networks differ by terminals, ports and links, not by the order of links") {
    LinkGraph other = star();
    std::swap(other.links[0], other.links[5]);
    CHECK(difference(star(), other) == std::nullopt);
    other.ports = Ports::all;
    CHECK(difference(star(), other).value_or("").find("ports \"one\"") != std::string::npos);
    other = star();
    std::swap(other.terminals[0], other.terminals[1]);
    CHECK(difference(star(), other) == "terminal 0 is at p0, the other's at p1");
    other = star();
    other.terminals[0].out = other.terminals[1].out;
    CHECK(difference(star(), other) == "terminal 0 is at p0, the other's at p0 and p1");
    other = star();
    other.vertices[other.terminals[0].in] = "p\nOK";
    CHECK(difference(star(), other) == R"(terminal 0 is at p0, the other's at "p\nOK")");
    other = star();
    other.links.pop_back();
    CHECK(difference(star(), other) == "it has a link from p2 to s0, the other none");
    CHECK(difference(other, star()) == "it has no link from p2 to s0, the other one");
    CHECK(difference(star(), named_graph("star-4")) == "it has 3 terminals, the other 4");
}

} // namespace checker_test
