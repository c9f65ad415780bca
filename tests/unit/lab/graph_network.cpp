// SPDX-License-Identifier: BSD-3-Clause
// Networks of link graphs, and the queues that they report.
#include "support/catch.h"

#include "plexus/error.h"
#include "tools/lab/graph_network.h"
#include "tools/lab/queue_lengths.h"
#include "tools/lab/routes.h"

namespace graph_network_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::tools::lab;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

/// Hosts a and b at switch s, c at switch t.
LinkGraph two_switches() {
    LinkGraph graph;
    graph.vertices = {"a", "b", "c", "s.0", "s.1"};
    for (const auto& [from, to] : {std::pair{0u, 3u}, {1u, 3u}, {2u, 4u}, {3u, 4u}}) {
        graph.links.push_back({from, to});
        graph.links.push_back({to, from});
    }
    graph.terminals = {{0, 0}, {1, 1}, {2, 2}};
    return graph;
}

const Speed kSpeed{8'000'000, 10us, 4096};

} // namespace

TEST_CASE("a tree of links becomes a switch for each vertex without a terminal and a pipe for each link") {
    const LinkGraph graph = two_switches();
    const Network network = network_of(graph, kSpeed);
    const Routes routes(network);
    REQUIRE(network.hosts.size() == 3);
    CHECK(network.hosts[2].name == "c");
    CHECK(network.places[0].name == "s-0");
    CHECK(routes.pipes().size() == graph.links.size());
    for (const Pipe& each : routes.pipes()) {
        CHECK(each.speed.bits_per_second == 8'000'000);
        CHECK(each.speed.delay == 10us);
        CHECK(each.speed.queue_bytes == 4096);
    }
    CHECK(routes.route(0, 1).size() == 2);
    CHECK(routes.route(0, 2).size() == 3);
    CHECK(routes.delay(0, 2) == 30us);
}

TEST_CASE("what a lab cannot express is refused, and the sentence says what it is") {
    const auto refusal = [](const LinkGraph& graph) -> std::string {
        try {
            network_of(graph, kSpeed);
        } catch (const Error& error) { return error.what(); }
        return "nothing was refused";
    };
    LinkGraph graph = two_switches();
    graph.links.pop_back();
    CHECK_THAT(refusal(graph), Contains("s.0 to s.1 has one direction"));
    graph = two_switches();
    graph.terminals[1] = {1, 4};
    CHECK_THAT(refusal(graph), Contains("terminal 1 begins at b and ends at s.1"));
    graph = two_switches();
    graph.links.insert(graph.links.end(), {{2, 3}, {3, 2}});
    CHECK_THAT(refusal(graph), Contains("terminal 2 has 2 ports"));
    graph = two_switches();
    graph.vertices.push_back("u");
    graph.links.insert(graph.links.end(), {{3, 5}, {5, 3}, {4, 5}, {5, 4}});
    CHECK_THAT(refusal(graph), Contains("several ways join") && Contains("schedule play"));
    graph = two_switches();
    graph.links.insert(graph.links.end(), {{3, 4}, {4, 3}});
    CHECK_THAT(refusal(graph), Contains("several ways join s.0 and s.1"));
    graph.links = {{0, 1}, {1, 0}};
    graph.terminals = {{0, 0}, {1, 1}};
    CHECK_THAT(refusal(graph), Contains("a and b are joined without a switch"));
    graph.vertices[0] = "a\nlab: ready\x1b[31m";
    CHECK_THAT(refusal(graph), Contains("lab: ready") && !Contains("\n") && !Contains("\x1b"));
}

TEST_CASE("queue lengths are counted per frame, with the most and quantiles to a sixteenth") {
    QueueLengths lengths;
    CHECK(lengths.quantile(0.99) == 0);
    for (int i = 0; i < 98; ++i) lengths.add(0);
    lengths.add(7);
    lengths.add(100'000);
    CHECK(lengths.quantile(0.5) == 0);
    CHECK(lengths.quantile(0.99) == 7);
    CHECK(lengths.quantile(1) == 100'000);
    CHECK(lengths.most() == 100'000);
    QueueLengths both;
    for (int i = 0; i < 100; ++i) both.add(50'000);
    both.add(lengths);
    CHECK(both.frames() == 200);
    CHECK(both.quantile(0.9) >= 50'000);
    CHECK(both.quantile(0.9) <= 50'000 * 17 / 16);
}

} // namespace graph_network_test
