// SPDX-License-Identifier: BSD-3-Clause
// Lines begin and end at the symbols of their links' ends, and no two lie on each other.
#include "tools/schedule/show/wiring.h"

#include "support/catch.h"
#include "unit/schedule_show/graphs.h"

#include <cmath>
#include <set>

namespace wiring_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::tools::drawing;

namespace {

/// How far a point is outside a symbol.
double outside(const Wiring& wiring, std::uint32_t vertex, const Point& point) {
    const Symbol& symbol = wiring.symbols[vertex];
    const Point& middle = wiring.layout.vertices[vertex];
    const double dx = std::abs(point.x - middle.x);
    const double dy = std::abs(point.y - middle.y);
    if (symbol.terminal) return std::hypot(dx, dy) - symbol.width / 2;
    return std::max(dx - symbol.width / 2, dy - symbol.height / 2);
}

/// The part of a line between the symbols.
std::pair<Point, Point> longest(const Line& line) {
    std::pair<Point, Point> out{line[0], line[1]};
    const auto length = [](const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); };
    for (std::size_t at = 2; at < line.size(); ++at)
        if (length(line[at - 1], line[at]) > length(out.first, out.second)) out = {line[at - 1], line[at]};
    return out;
}

} // namespace

TEST_CASE("each line leads from the symbol where its link begins to that where it ends") {
    for (const char* name : kDrawnGraphs)
        for (const eco::LinkGraph& graph : {eco::named_graph(name), shuffled(eco::named_graph(name), 3)}) {
            const Wiring wiring = wire(graph);
            INFO(name << " " << graph.name);
            REQUIRE(wiring.links.size() == graph.links.size());
            for (std::size_t link = 0; link < graph.links.size(); ++link) {
                CHECK(outside(wiring, graph.links[link].from, wiring.links[link].front()) < 0.1);
                CHECK(outside(wiring, graph.links[link].to, wiring.links[link].back()) < 0.1);
                CHECK(outside(wiring, graph.links[link].to, wiring.links[link].front()) > 1);
            }
        }
}

TEST_CASE("no two links have the same line, and no two symbols touch") {
    for (const char* name : kDrawnGraphs) {
        const eco::LinkGraph graph = eco::named_graph(name);
        const Wiring wiring = wire(graph);
        INFO(name);
        std::set<std::string> lines;
        for (const Line& line : wiring.links) lines.insert(start_of(line) + rest_of(line));
        CHECK(lines.size() == graph.links.size());
        for (std::uint32_t a = 0; a < graph.vertices.size(); ++a)
            for (std::uint32_t b = 0; b < a; ++b) {
                const double dx = std::abs(wiring.layout.vertices[a].x - wiring.layout.vertices[b].x);
                const double dy = std::abs(wiring.layout.vertices[a].y - wiring.layout.vertices[b].y);
                const bool apart = dx > (wiring.symbols[a].width + wiring.symbols[b].width) / 2 ||
                                   dy > (wiring.symbols[a].height + wiring.symbols[b].height) / 2;
                CHECK(apart);
            }
    }
}

TEST_CASE("the two directions of an edge run side by side, to the right of each other") {
    for (const char* name : {"btree-8", "ring-8", "mesh-3x3"}) {
        const eco::LinkGraph graph = eco::named_graph(name);
        const Wiring wiring = wire(graph);
        for (std::size_t a = 0; a < graph.links.size(); ++a)
            for (std::size_t b = 0; b < graph.links.size(); ++b) {
                if (graph.links[a].from != graph.links[b].to || graph.links[a].to != graph.links[b].from)
                    continue;
                const auto [begin, end] = longest(wiring.links[a]);
                const Point other = longest(wiring.links[b]).second;
                const double cross =
                    (end.x - begin.x) * (other.y - begin.y) - (end.y - begin.y) * (other.x - begin.x);
                CHECK(cross < 0); // at the left of a, which is so at the right of b
            }
    }
}

TEST_CASE("the way of a transfer is one line through all its links") {
    const eco::LinkGraph graph = eco::named_graph("btree-8");
    const Wiring wiring = wire(graph);
    const eco::LinkPath path = eco::shortest_paths(graph, 0, 7, 1).front();
    const std::string way = way_of(wiring, path);
    CHECK(std::count(way.begin(), way.end(), 'M') == 1);
    for (const std::uint32_t link : path) {
        CHECK(way.find(start_of(wiring.links[link]) + rest_of(wiring.links[link])) != std::string::npos);
    }
}

TEST_CASE("a symbol's room for its name ends where the next symbol begins") {
    const eco::LinkGraph graph = eco::named_graph("btree-4");
    const Wiring wiring = wire(graph);
    const auto left = [&](std::uint32_t vertex) {
        return wiring.layout.vertices[vertex].x - wiring.symbols[vertex].width / 2;
    };
    const auto right = [&](std::uint32_t vertex) {
        return wiring.layout.vertices[vertex].x + wiring.symbols[vertex].width / 2;
    };
    CHECK(std::abs(wiring.symbols[1].free - (left(2) - right(1))) < 1e-6);
    CHECK(std::abs(wiring.symbols[2].free - (wiring.layout.width - right(2))) < 1e-6);
    CHECK(std::abs(wiring.symbols[3].free - (left(4) - right(3))) < 1e-6);
}

} // namespace wiring_test
