// SPDX-License-Identifier: BSD-3-Clause
// Where vertices stand: as the links ask for it, apart from each other, inside the picture.
#include "tools/schedule/show/layout.h"

#include "support/catch.h"
#include "tools/schedule/show/layers.h"
#include "unit/schedule_show/graphs.h"

#include <cmath>
#include <set>

namespace layout_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::tools::drawing;

namespace {

std::string shape_of(const eco::LinkGraph& graph) { return std::string(to_string(lay_out(graph).shape)); }

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

double closest(const Layout& layout) {
    double out = 1e9;
    for (std::size_t a = 0; a < layout.vertices.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            out = std::min(out, distance(layout.vertices[a], layout.vertices[b]));
    return out;
}

} // namespace

TEST_CASE("a network's shape follows from its links, whatever the order of its vertices") {
    const std::pair<const char*, const char*> shapes[] = {
        {"omega-8", "stages"},  {"butterfly-16", "stages"}, {"clos-12", "stages"}, {"btree-16", "levels"},
        {"ftree-16", "levels"}, {"fbtree-15", "levels"},    {"star-5", "levels"},  {"karytree-3-2", "levels"},
        {"ring-8", "circle"},   {"cube-3", "circle"}};
    for (const auto& [name, shape] : shapes) {
        INFO(name);
        CHECK(shape_of(eco::named_graph(name)) == shape);
        CHECK(shape_of(shuffled(eco::named_graph(name), 7)) == shape);
    }
    CHECK(shape_of(eco::named_graph("mesh-4x4")) == "grid");
    CHECK(shape_of(eco::named_graph("torus-3x5")) == "grid");
    CHECK(shape_of(shuffled(eco::named_graph("mesh-4x4"), 7)) == "circle"); // the names are gone
}

TEST_CASE("vertices are apart and inside the picture") {
    for (const char* name : kDrawnGraphs)
        for (const eco::LinkGraph& graph : {eco::named_graph(name), shuffled(eco::named_graph(name), 3)}) {
            const Layout layout = lay_out(graph);
            INFO(name << " " << graph.name);
            CHECK(closest(layout) >= 18);
            for (const Point& each : layout.vertices) {
                CHECK(each.x >= 25);
                CHECK(each.y >= 25);
                CHECK(each.x <= layout.width - 25);
                CHECK(each.y <= layout.height - 25);
            }
        }
}

TEST_CASE("in stages every link leads to the right, from sending terminals to accepting ones") {
    for (const char* name : {"omega-16", "butterfly-8", "clos-2-5-3"})
        for (const eco::LinkGraph& graph : {eco::named_graph(name), shuffled(eco::named_graph(name), 5)}) {
            const Layout layout = lay_out(graph);
            for (const eco::DirectedLink& each : graph.links)
                CHECK(layout.vertices[each.from].x < layout.vertices[each.to].x);
            std::set<double> left;
            std::set<double> right;
            for (const eco::Terminal& each : graph.terminals) {
                left.insert(layout.vertices[each.in].x);
                right.insert(layout.vertices[each.out].x);
            }
            CHECK(left.size() == 1);
            CHECK(right.size() == 1);
        }
    const eco::LinkGraph omega = eco::named_graph("omega-8");
    const Layout layout = lay_out(omega);
    for (std::size_t at = 1; at < omega.terminals.size(); ++at)
        CHECK(layout.vertices[omega.terminals[at - 1].in].y < layout.vertices[omega.terminals[at].in].y);
}

TEST_CASE("an accepting terminal behind a shorter way is at the right as well") {
    eco::LinkGraph graph;
    graph.vertices = {"a", "b", "s", "t", "A", "B"};
    graph.links = {{0, 2}, {1, 2}, {2, 3}, {2, 4}, {3, 5}};
    graph.terminals = {{0, 4}, {1, 5}};
    const Layout layout = lay_out(graph);
    CHECK(layout.shape == Shape::stages);
    CHECK(layout.vertices[4].x == layout.vertices[5].x);
}

TEST_CASE("a tree has its middle above, and each vertex between its children") {
    for (const char* name : {"btree-16", "karytree-3-2", "fbtree-15"})
        for (const eco::LinkGraph& graph : {eco::named_graph(name), shuffled(eco::named_graph(name), 11)}) {
            const Layout layout = lay_out(graph);
            const auto next = neighbours(graph);
            std::size_t roots = 0;
            for (std::size_t vertex = 0; vertex < next.size(); ++vertex) {
                double least = 1e9;
                double greatest = 0;
                std::size_t above = 0;
                for (const std::uint32_t each : next[vertex])
                    if (layout.rank[each] < layout.rank[vertex]) {
                        ++above;
                    } else {
                        CHECK(layout.rank[each] == layout.rank[vertex] + 1);
                        least = std::min(least, layout.vertices[each].x);
                        greatest = std::max(greatest, layout.vertices[each].x);
                    }
                roots += above == 0 ? 1 : 0;
                CHECK(above <= 1);
                if (greatest > 0) CHECK(std::abs((least + greatest) / 2 - layout.vertices[vertex].x) < 1e-6);
            }
            CHECK(roots == 1);
        }
}

TEST_CASE("a fat tree has its terminals below, in order, and a switch as high as it is far from them") {
    const eco::LinkGraph graph = eco::named_graph("ftree-16");
    const Layout layout = lay_out(graph);
    for (std::size_t at = 0; at < graph.terminals.size(); ++at) {
        CHECK(layout.rank[graph.terminals[at].in] == 4);
        if (at > 0)
            CHECK(layout.vertices[graph.terminals[at - 1].in].x < layout.vertices[graph.terminals[at].in].x);
    }
    for (std::size_t vertex = 0; vertex < graph.vertices.size(); ++vertex)
        if (graph.vertices[vertex].starts_with("s"))
            CHECK(layout.rank[vertex] == 3 - static_cast<std::size_t>(graph.vertices[vertex][1] - '0'));
}

TEST_CASE("a grid's rows and columns are those of the names") {
    const eco::LinkGraph graph = eco::named_graph("mesh-3x4");
    const Layout layout = lay_out(graph);
    for (const eco::DirectedLink& each : graph.links) {
        const Point& a = layout.vertices[each.from];
        const Point& b = layout.vertices[each.to];
        CHECK((a.x == b.x) != (a.y == b.y));
    }
    CHECK(layout.vertices[0].y == layout.vertices[3].y);
    CHECK(layout.vertices[0].x == layout.vertices[8].x);
    eco::LinkGraph twice = graph;
    twice.name.clear();
    twice.vertices[1] = "p0.0";
    CHECK(shape_of(twice) == "circle");
    twice.vertices[1] = "p0.1000";
    CHECK(shape_of(twice) == "circle");
    twice.vertices[1] = "q0.1";
    CHECK(shape_of(twice) == "circle");
}

TEST_CASE("who is linked in a ring stands side by side") {
    const eco::LinkGraph graph = shuffled(eco::named_graph("ring-12"), 2);
    const Layout layout = lay_out(graph);
    const double side = closest(layout);
    for (const eco::DirectedLink& each : graph.links)
        CHECK(distance(layout.vertices[each.from], layout.vertices[each.to]) < side * 1.001);
}

TEST_CASE("a graph without a name gets an order in which fewer links cross") {
    const auto crossings = [](const eco::LinkGraph& graph, const Layers& layers) {
        std::vector<std::size_t> place(graph.vertices.size());
        std::vector<std::size_t> layer(graph.vertices.size());
        for (std::size_t rank = 0; rank < layers.size(); ++rank)
            for (std::size_t at = 0; at < layers[rank].size(); ++at) {
                place[layers[rank][at]] = at;
                layer[layers[rank][at]] = rank;
            }
        std::size_t out = 0;
        for (const eco::DirectedLink& a : graph.links)
            for (const eco::DirectedLink& b : graph.links)
                if (layer[a.from] == layer[b.from] && place[a.from] < place[b.from] &&
                    place[a.to] > place[b.to])
                    ++out;
        return out;
    };
    const eco::LinkGraph graph = shuffled(eco::named_graph("butterfly-16"), 4);
    const Layers before = stages_of(graph).value();
    Layers after = before;
    reduce_crossings(graph, after);
    CHECK(crossings(graph, after) * 2 < crossings(graph, before));
    eco::LinkGraph two_stages; // switches of the second one named in another order than their terminals
    two_stages.vertices = {"i0", "i1", "A", "B1", "B0", "o0", "o1"};
    two_stages.links = {{0, 2}, {1, 2}, {2, 3}, {2, 4}, {4, 5}, {3, 6}};
    two_stages.terminals = {{0, 5}, {1, 6}};
    Layers sorted = stages_of(two_stages).value();
    reduce_crossings(two_stages, sorted);
    CHECK(sorted == Layers{{0, 1}, {2}, {4, 3}, {5, 6}});
    eco::LinkGraph named = graph;
    named.name = "mine";
    Layers kept = before;
    reduce_crossings(named, kept);
    CHECK(kept == before);
}

TEST_CASE("a chain and a lone long branch are drawn") {
    eco::LinkGraph graph;
    for (std::uint32_t at = 0; at < 200; ++at) {
        graph.vertices.push_back("n" + std::to_string(at));
        graph.terminals.push_back({at, at});
        if (at > 0) graph.links.insert(graph.links.end(), {{at - 1, at}, {at, at - 1}});
    }
    const Layout layout = lay_out(graph);
    CHECK(layout.shape == Shape::levels);
    CHECK(closest(layout) >= 18);
}

} // namespace layout_test
