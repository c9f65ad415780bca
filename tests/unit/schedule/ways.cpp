// SPDX-License-Identifier: BSD-3-Clause
// Numbers and lengths of shortest ways that are known from arithmetic.
#include "tools/schedule/ways.h"

#include "support/catch.h"

namespace ways_test {

using namespace plexus::eco;
using namespace plexus::tools::schedule;

TEST_CASE("across a mesh there are as many shortest ways as orders of its steps") {
    const LinkGraph mesh = named_graph("mesh-3x4");
    const WaysTo ways(mesh, links_into(mesh), mesh.terminals[11].out);
    CHECK(ways.distance(0) == 5);
    CHECK(ways.count(0) == 10); // 5 over 2
    CHECK(ways.count(11) == 1);
    CHECK(ways.first(0).size() == 5);
    CHECK(ways.first(11).empty());
    const LinkGraph large = named_graph("mesh-32x32"); // 62 over 31 is about 4.65e17
    CHECK(WaysTo(large, links_into(large), large.terminals[1023].out).count(0) == 465428353255261088);
}

TEST_CASE("of several shortest ways the first is the one whose links have the lowest numbers") {
    LinkGraph graph;
    graph.vertices = {"start", "left", "right", "end"};
    graph.links = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    CHECK(WaysTo(graph, links_into(graph), 3).first(0) == LinkPath{0, 2});
    graph.links = {{0, 1}, {0, 2}, {2, 3}, {1, 3}}; // the other neighbour of the end is found first
    CHECK(WaysTo(graph, links_into(graph), 3).first(0) == LinkPath{0, 3});
}

TEST_CASE("ways that no number of 64 bits counts are the most that is counted") {
    LinkGraph chain; // 70 diamonds in a row: 2^70 ways
    const auto vertex = [&chain] {
        chain.vertices.push_back(std::to_string(chain.vertices.size()));
        return static_cast<std::uint32_t>(chain.vertices.size() - 1);
    };
    std::uint32_t end = vertex();
    for (int diamond = 0; diamond < 70; ++diamond) {
        const std::uint32_t start = end;
        const std::uint32_t middle[] = {vertex(), vertex()};
        end = vertex();
        for (const std::uint32_t each : middle) {
            chain.links.push_back({start, each});
            chain.links.push_back({each, end});
        }
    }
    CHECK(WaysTo(chain, links_into(chain), end).count(0) == WaysTo::kMostCounted);
    const WaysTo back(chain, links_into(chain), 0);
    CHECK(back.distance(end) == WaysTo::kUnreachable);
    CHECK(back.count(end) == 0);
    CHECK(back.first(end).empty());
}

} // namespace ways_test
