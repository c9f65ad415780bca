// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/show/wiring.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <tuple>

namespace plexus::tools::drawing {
namespace {

using Vertex = std::uint32_t;

constexpr double kLane = 2.8;     // from the middle of an edge to each of its two directions
constexpr double kPort = 16;      // of a switch: from one to the next
constexpr double kPortOfTwo = 22; // of an edge with two directions
constexpr double kMostFlat = 2.2;
constexpr double kArrival = 0.22; // of a box's height: how far a line leads into it
constexpr double kDeparture = 0.5;
constexpr double kStub = 12;   // a line around others leaves its row by so much
constexpr double kDetour = 22; // and runs so far beside it

struct Degrees {
    std::vector<std::size_t> in, out;
};

Degrees degrees_of(const eco::LinkGraph& graph) {
    Degrees out{std::vector<std::size_t>(graph.vertices.size()),
                std::vector<std::size_t>(graph.vertices.size())};
    for (const eco::DirectedLink& link : graph.links) {
        ++out.out[link.from];
        ++out.in[link.to];
    }
    return out;
}

std::vector<Symbol> symbols_of(const eco::LinkGraph& graph, const Layout& layout) {
    std::vector<Symbol> out(graph.vertices.size());
    for (std::uint32_t number = 0; number < graph.terminals.size(); ++number)
        out[graph.terminals[number].in].terminal = out[graph.terminals[number].out].terminal = number;
    const Degrees degrees = degrees_of(graph);
    for (Vertex vertex = 0; vertex < out.size(); ++vertex) {
        Symbol& symbol = out[vertex];
        const double room = layout.room[vertex];
        if (symbol.terminal) {
            symbol.width = symbol.height = 2 * std::clamp(room * 0.42, 6.5, 11.0);
            continue;
        }
        const auto ports = static_cast<double>(std::max(degrees.in[vertex], degrees.out[vertex]));
        const double side = std::max(
            14.0, std::min(ports * (layout.shape == Shape::levels ? kPortOfTwo : kPort), room * 0.8));
        const double other = std::clamp(room * 0.5, 12.0, 26.0);
        symbol.width = layout.shape == Shape::stages ? other : layout.shape == Shape::levels ? side : 18;
        symbol.height = layout.shape == Shape::stages ? side : layout.shape == Shape::levels ? other : 18;
    }
    return out;
}

void find_free(const Layout& layout, std::vector<Symbol>& symbols) {
    std::vector<Vertex> order(symbols.size());
    std::iota(order.begin(), order.end(), Vertex{0});
    std::sort(order.begin(), order.end(), [&](Vertex a, Vertex b) {
        return std::tuple(layout.rank[a], layout.vertices[a].x) <
               std::tuple(layout.rank[b], layout.vertices[b].x);
    });
    for (std::size_t at = 0; at < order.size(); ++at) {
        const Vertex vertex = order[at];
        double end = layout.width;
        if (at + 1 < order.size() && layout.rank[order[at + 1]] == layout.rank[vertex])
            end = layout.vertices[order[at + 1]].x - symbols[order[at + 1]].width / 2;
        symbols[vertex].free = end - layout.vertices[vertex].x - symbols[vertex].width / 2;
    }
}

/// Where links end at a box: spread over the side that faces the other end, in the order of the other ends.
class Ports {
  public:
    Ports(const eco::LinkGraph& graph, const Layout& layout, const std::vector<Symbol>& symbols)
      : layout_(layout)
      , symbols_(symbols)
      , before_(graph.vertices.size())
      , behind_(graph.vertices.size()) {
        for (const eco::DirectedLink& link : graph.links) {
            add(link.from, link.to);
            add(link.to, link.from);
        }
        for (std::vector<std::vector<Vertex>>* each : {&before_, &behind_})
            for (std::vector<Vertex>& others : *each) {
                std::sort(others.begin(), others.end(),
                          [this](Vertex a, Vertex b) { return key(a) < key(b); });
                others.erase(std::unique(others.begin(), others.end()), others.end());
            }
    }

    /// The line's part at `vertex`, from its border: of a box of levels with a stub inside, so that ways that
    /// turn in a switch can be told apart. `aside` is to the right as seen from `vertex`.
    Line at(Vertex vertex, Vertex other, double aside, double stub) const {
        const Point& middle = layout_.vertices[vertex];
        const Symbol& symbol = symbols_[vertex];
        const bool has_sides = layout_.shape == Shape::stages || layout_.shape == Shape::levels;
        if (symbol.terminal || !has_sides)
            return {on_circle(middle, layout_.vertices[other], symbol.width / 2, aside)};
        const bool is_before = layout_.rank[other] < layout_.rank[vertex];
        const std::vector<Vertex>& others = is_before ? before_[vertex] : behind_[vertex];
        const auto place = std::lower_bound(others.begin(), others.end(), other,
                                            [this](Vertex a, Vertex b) { return key(a) < key(b); }) -
                           others.begin();
        const double share = (static_cast<double>(place) + 0.5) / static_cast<double>(others.size()) - 0.5;
        const double sign = is_before ? -1 : 1;
        if (layout_.shape == Shape::stages)
            return {{middle.x + sign * symbol.width / 2, middle.y + share * symbol.height + sign * aside}};
        // Flat lines are further apart where they end, so that they are as far apart between.
        const Point& end = layout_.vertices[other];
        const double length = std::hypot(end.x - middle.x, end.y - middle.y);
        const double flat = std::min(length / std::max(1.0, std::abs(end.y - middle.y)), kMostFlat);
        const double x = middle.x + share * symbol.width - sign * aside * flat;
        const double depth = stub * symbol.height;
        return {{x, middle.y + sign * symbol.height / 2}, {x, middle.y + sign * (symbol.height / 2 - depth)}};
    }

    static Point towards(const Point& from, const Point& to, double distance) {
        const double whole = std::max(1.0, std::hypot(to.x - from.x, to.y - from.y));
        return {from.x + (to.x - from.x) / whole * distance, from.y + (to.y - from.y) / whole * distance};
    }

  private:
    static Point on_circle(const Point& middle, const Point& other, double radius, double aside) {
        const Point ahead = towards({0, 0}, {other.x - middle.x, other.y - middle.y}, 1);
        const double along = std::sqrt(radius * radius - aside * aside);
        return {middle.x + ahead.x * along - ahead.y * aside, middle.y + ahead.y * along + ahead.x * aside};
    }
    void add(Vertex vertex, Vertex other) {
        (layout_.rank[other] < layout_.rank[vertex] ? before_ : behind_)[vertex].push_back(other);
    }
    std::tuple<double, std::size_t, Vertex> key(Vertex vertex) const {
        const Point& place = layout_.vertices[vertex];
        return {layout_.shape == Shape::stages ? place.y : place.x, layout_.rank[vertex], vertex};
    }

    const Layout& layout_;
    const std::vector<Symbol>& symbols_;
    std::vector<std::vector<Vertex>> before_;
    std::vector<std::vector<Vertex>> behind_;
};

/// In a grid, past the vertices between: above the row, or left of the column.
Line around(const Point& from, const Point& to, double radius, double distance) {
    const bool in_row = from.y == to.y;
    const double sign = (in_row ? to.x > from.x : to.y > from.y) ? 1 : -1;
    const auto place = [&](const Point& base, double along, double aside) {
        return in_row ? Point{base.x + along, base.y - aside} : Point{base.x - aside, base.y + along};
    };
    return {Ports::towards(from, place(from, sign * kStub, distance), radius),
            place(from, sign * kStub, distance), place(to, -sign * kStub, distance),
            Ports::towards(to, place(to, -sign * kStub, distance), radius)};
}

} // namespace

Wiring wire(const eco::LinkGraph& graph) {
    Wiring out{lay_out(graph), {}, {}};
    out.symbols = symbols_of(graph, out.layout);
    find_free(out.layout, out.symbols);
    const Ports ports(graph, out.layout, out.symbols);
    std::vector<eco::DirectedLink> sorted = graph.links;
    std::sort(sorted.begin(), sorted.end());
    for (const eco::DirectedLink& link : graph.links) {
        const Point& from = out.layout.vertices[link.from];
        const Point& to = out.layout.vertices[link.to];
        const bool two_ways =
            std::binary_search(sorted.begin(), sorted.end(), eco::DirectedLink{link.to, link.from});
        const bool is_straight = from.x == to.x || from.y == to.y;
        if (out.layout.shape == Shape::grid && is_straight &&
            std::hypot(to.x - from.x, to.y - from.y) > 1.5 * out.layout.room[link.from])
            out.links.push_back(around(from, to, out.symbols[link.from].width / 2,
                                       kDetour + (link.from < link.to ? kLane : -kLane)));
        else {
            const double aside = two_ways ? kLane : 0;
            const Line from_border = ports.at(link.from, link.to, aside, kDeparture);
            Line line(from_border.rbegin(), from_border.rend());
            for (const Point& each : ports.at(link.to, link.from, -aside, kArrival)) line.push_back(each);
            out.links.push_back(std::move(line));
        }
    }
    return out;
}

std::string start_of(const Line& line) {
    return fmt::format("{:.1f},{:.1f}", line.front().x, line.front().y);
}

std::string rest_of(const Line& line) {
    std::string out;
    for (std::size_t at = 1; at < line.size(); ++at)
        fmt::format_to(std::back_inserter(out), "L{:.1f},{:.1f}", line[at].x, line[at].y);
    return out;
}

std::string way_of(const Wiring& wiring, const eco::LinkPath& path) {
    std::string out;
    for (const std::uint32_t link : path) {
        const Line& line = wiring.links[link];
        out += (out.empty() ? "M" : "L") + start_of(line) + rest_of(line);
    }
    return out;
}

} // namespace plexus::tools::drawing
