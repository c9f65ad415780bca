// SPDX-License-Identifier: BSD-3-Clause
// A map's subnets as a tree of switches.
#include "tools/schedule/map_graph.h"

#include "plexus/error.h"
#include "support/catch.h"

#include <fmt/format.h>

namespace map_graph_test {

using namespace plexus::eco;
using namespace plexus::tools::schedule;

namespace {

Map read(const char* text) { return read_map(text, "net"); }

std::vector<std::string> links_of(const LinkGraph& graph) {
    std::vector<std::string> out;
    for (const DirectedLink& each : graph.links)
        out.push_back(graph.vertices[each.from] + ">" + graph.vertices[each.to]);
    return out;
}

} // namespace

TEST_CASE("two subnets and a host alone are two switches and a root, terminals in the map's order") {
    const LinkGraph graph = graph_of_map(read("5 ant bee cow dog elk\n"
                                              "-    1000 1    1000 100000\n"
                                              "1000 -    1000 1    100000\n"
                                              "1    1000 -    1000 100000\n"
                                              "1000 1    1000 -    100000\n"
                                              "100000 100000 100000 100000 -\n"));
    check(graph);
    CHECK(is_tree(graph));
    CHECK(graph.ports == Ports::one);
    REQUIRE(graph.terminals.size() == 5);
    for (std::uint32_t host = 0; host < 5; ++host) CHECK(graph.terminals[host] == Terminal{host, host});
    CHECK(links_of(graph) ==
          std::vector<std::string>{"ant>subnet 1.0", "subnet 1.0>ant", "cow>subnet 1.0", "subnet 1.0>cow",
                                   "bee>subnet 1.1", "subnet 1.1>bee", "dog>subnet 1.1", "subnet 1.1>dog",
                                   "subnet 1.0>subnet 2.0", "subnet 2.0>subnet 1.0", "subnet 1.1>subnet 2.0",
                                   "subnet 2.0>subnet 1.1", "elk>subnet 3.0", "subnet 3.0>elk",
                                   "subnet 2.0>subnet 3.0", "subnet 3.0>subnet 2.0"});
}

TEST_CASE("one subnet is one switch; hosts that share none have the root above them") {
    const LinkGraph one = graph_of_map(read("3 a b c\n- 1 1\n1 - 1\n1 1 -\n"));
    CHECK(one.vertices.size() == 4);
    CHECK(one.links.size() == 6);
    const LinkGraph none = graph_of_map(read("3 a b c\n- - -\n- - -\n- - -\n"));
    CHECK(none.vertices.back() == "all subnets");
    CHECK(none.links.size() == 6);
}

TEST_CASE("a map with more hosts than a graph has terminals is refused") {
    std::vector<std::string> hosts;
    for (std::size_t host = 0; host <= kMostTerminals; ++host) hosts.push_back(fmt::format("h{}", host));
    CHECK_THROWS_AS(graph_of_map(Map(hosts, {}, {8}, "")), plexus::Error);
}

} // namespace map_graph_test
