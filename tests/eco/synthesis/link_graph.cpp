// SPDX-License-Identifier: BSD-3-Clause
// How the named networks are wired, and which graphs are refused.
#include "support/catch.h"

#include "eco/model/words.h"
#include "plexus/eco/link_graph.h"

#include <bit>

namespace link_graph_test {

using namespace plexus::eco;
using plexus::testing::words_of;

namespace {

LinkGraph pair_of_vertices() { return {"", {"a", "b"}, {{0, 1}, {1, 0}}, {{0, 0}, {1, 1}}, Ports::one}; }

void check_refused(const LinkGraph& graph, const std::string& part) {
    INFO(part);
    CHECK(words_of([&] { check(graph); }).find(part) != std::string::npos);
}

} // namespace

TEST_CASE("omega and butterfly join every two terminals by exactly one way through all stages") {
    for (const char* const name : {"omega-2", "omega-8", "butterfly-8", "omega-16", "butterfly-16"}) {
        INFO(name);
        const LinkGraph graph = named_graph(name);
        const auto n = static_cast<std::uint32_t>(graph.terminals.size());
        for (std::uint32_t from = 0; from < n; ++from)
            for (std::uint32_t to = 0; to < n; ++to) {
                if (from == to) continue;
                const auto paths = shortest_paths(graph, from, to, 9);
                REQUIRE(paths.size() == 1);
                CHECK(paths[0].size() == static_cast<std::size_t>(std::countr_zero(n)) + 1);
            }
    }
}

TEST_CASE("in an omega network the bits of the destination, highest first, choose the outputs") {
    const LinkGraph graph = named_graph("omega-8");
    for (std::uint32_t from = 0; from < 8; ++from)
        for (std::uint32_t to = 0; to < 8; ++to) {
            if (from == to) continue;
            std::uint32_t line = from;
            std::vector<std::string> expected;
            for (std::uint32_t stage = 0; stage < 3; ++stage) {
                line = (line << 1 | line >> 2) & 7; // perfect shuffle
                expected.push_back("s" + std::to_string(stage) + "." + std::to_string(line / 2));
                line = (line & 6) | (to >> (2 - stage) & 1);
            }
            expected.push_back("out" + std::to_string(to));
            std::vector<std::string> passed;
            const auto paths = shortest_paths(graph, from, to, 1);
            for (const std::uint32_t link : paths.front())
                passed.push_back(graph.vertices[graph.links[link].to]);
            CHECK(passed == expected);
        }
}

TEST_CASE("a clos network has a way by every switch of the middle") {
    const LinkGraph graph = named_graph("clos-2-5-3");
    CHECK(shortest_paths(graph, 0, 5, 99).size() == 5);
    CHECK(shortest_paths(graph, 0, 1, 99).size() == 5);
    CHECK(shortest_paths(graph, 0, 5, 2).size() == 2);
}

TEST_CASE("in a fat tree two ways more open with each level up") {
    const LinkGraph graph = named_graph("ftree-16");
    CHECK(shortest_paths(graph, 0, 1, 99).size() == 1);
    CHECK(shortest_paths(graph, 0, 2, 99).size() == 2);
    CHECK(shortest_paths(graph, 0, 4, 99).size() == 4);
    CHECK(shortest_paths(graph, 0, 15, 99).size() == 8);
}

TEST_CASE("trees are trees and no other network is one") {
    for (const char* const name : {"btree-8", "fbtree-7", "karytree-3-2", "star-5", "ring-2", "mesh-1x4"})
        CHECK(is_tree(named_graph(name)));
    for (const char* const name : {"ring-3", "mesh-2x2", "ftree-4", "omega-4", "cube-2"})
        CHECK_FALSE(is_tree(named_graph(name)));
    // As many links as a tree has: a vertex that none of them reaches, and links that lead one way.
    CHECK_FALSE(is_tree(
        {"", {"a", "b", "c", "d"}, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 0}, {0, 2}}, {}, Ports::one}));
    CHECK_FALSE(is_tree({"", {"a", "b", "c"}, {{0, 1}, {1, 2}, {2, 0}, {1, 0}}, {}, Ports::one}));
}

TEST_CASE("names that mean no network are refused") {
    for (const char* const name :
         {"",           "omega",        "omega-",    "omega-6",         "omega-0",
          "omega-2048", "butterfly-08", "clos-13",   "clos-0-1-1",      "btree-1",
          "fbtree-8",   "star-1",       "ring-1",    "mesh-4",          "mesh-0x4",
          "mesh-99x99", "cube-0",       "cube-11",   "karytree-1-3",    "omega-99999999999999999999",
          "omega--8",   "omega-8-8",    "moebius-8", "clos-1-1024-1024"}) {
        INFO(name);
        CHECK(words_of([&] { named_graph(name); }) != "taken");
    }
}

TEST_CASE("every named network passes check()") {
    for (const char* const name :
         {"omega-8", "butterfly-8", "clos-12", "clos-16", "btree-8", "ftree-8", "fbtree-7", "karytree-3-2",
          "star-5", "ring-5", "mesh-3x4", "torus-3x4", "torus-2x3", "torus-3x2", "cube-3"})
        CHECK_NOTHROW(check(named_graph(name)));
}

TEST_CASE("graphs that no schedule can be made for are refused with a reason") {
    CHECK_NOTHROW(check(pair_of_vertices()));
    LinkGraph graph = pair_of_vertices();
    graph.terminals.pop_back();
    check_refused(graph, "the graph has 1");
    graph.terminals.clear();
    check_refused(graph, "the graph has 0");
    graph = pair_of_vertices();
    graph.links.pop_back();
    check_refused(graph, "no way leads from terminal 1 (\"b\") to terminal 0 (\"a\")");
    graph = pair_of_vertices();
    graph.links.push_back({0, 1});
    check_refused(graph, "the link from \"a\" to \"b\" is there twice");
    graph = pair_of_vertices();
    graph.links.push_back({1, 1});
    check_refused(graph, "\"b\" has a link to itself");
    graph.vertices[1] = "b\nerror: forged";
    check_refused(graph, "\"b?error: forged\" has a link to itself");
    graph = pair_of_vertices();
    graph.terminals[1] = graph.terminals[0];
    check_refused(graph, "\"a\" is the vertex of two terminals");
    graph = pair_of_vertices();
    graph.terminals[1] = {2, 2};
    check_refused(graph, "a terminal is at a vertex that is not there");
    graph.terminals[1] = {1, 2};
    check_refused(graph, "a terminal is at a vertex that is not there");
    graph = pair_of_vertices();
    graph.terminals[1] = {1, 0};
    check_refused(graph, "\"a\" is the vertex of two terminals");
    graph = pair_of_vertices();
    graph.vertices.push_back("c");
    graph.links.insert(graph.links.end(), {{1, 2}, {2, 1}});
    graph.terminals = {{0, 1}, {1, 2}};
    check_refused(graph, "terminal 1 begins where terminal 0 ends");
    graph = pair_of_vertices();
    graph.vertices.resize(kMostLinks + 1);
    check_refused(graph, "65536 of each are the most");
    graph = pair_of_vertices();
    graph.links.push_back({0, 2});
    check_refused(graph, "a link has an end that is not there");
    graph = pair_of_vertices();
    graph.terminals.assign(kMostTerminals + 1, {0, 0});
    check_refused(graph, "1024 are the most");
}

TEST_CASE("there are no ways between terminals that the graph does not have") {
    const LinkGraph graph = pair_of_vertices();
    CHECK(shortest_paths(graph, 0, 1, 1).size() == 1);
    CHECK(shortest_paths(graph, 0, 1, 0).empty());
    for (const auto& [from, to] : {std::pair{0U, 2U}, {2U, 0U}}) {
        INFO(from << " to " << to);
        CHECK(words_of([&, begin = from, end = to] {
                  shortest_paths(graph, begin, end, 1);
              }).find("0 to 1") != std::string::npos);
    }
}

} // namespace link_graph_test
