// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/show/layout.h"

#include "tools/schedule/show/layers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace plexus::tools::drawing {
namespace {

using Vertex = std::uint32_t;

constexpr double kMargin = 46; // left and right, for names
constexpr double kHead = 30;   // above and below

/// Pixels between neighbours of the longest row, so that a screen holds 64 and 8 are not tiny.
double pitch_of(std::size_t longest, double most) {
    if (longest <= 8) return most;
    if (longest <= 16) return most * 0.8;
    return longest <= 32 ? std::min(most * 0.7, 30.0) : 19;
}

Layout empty(const eco::LinkGraph& graph, Shape shape) {
    Layout out;
    out.shape = shape;
    out.vertices.resize(graph.vertices.size());
    out.room.resize(graph.vertices.size());
    out.rank.resize(graph.vertices.size());
    return out;
}

/// Layers side by side along `length`, each spread over `breadth`.
Layout in_layers(const eco::LinkGraph& graph, const Layers& layers, Shape shape) {
    Layout out = empty(graph, shape);
    std::size_t longest = 0;
    for (const std::vector<Vertex>& layer : layers) longest = std::max(longest, layer.size());
    const bool across = shape == Shape::stages;
    const double pitch = pitch_of(longest, across ? 44 : 64);
    const double breadth = pitch * static_cast<double>(longest);
    const auto gaps = static_cast<double>(layers.size() - 1);
    const double gap = across ? std::clamp(breadth / std::max(gaps, 1.0) * 1.5, 110.0, 240.0)
                              : std::clamp(breadth / 8, 88.0, 170.0);
    for (std::size_t rank = 0; rank < layers.size(); ++rank)
        for (std::size_t at = 0; at < layers[rank].size(); ++at) {
            const Vertex vertex = layers[rank][at];
            const double share = breadth / static_cast<double>(layers[rank].size());
            const double along = gap * static_cast<double>(rank);
            const double beside = share * (static_cast<double>(at) + 0.5);
            out.vertices[vertex] =
                across ? Point{kMargin + along, kHead + beside} : Point{kMargin + beside, kHead + along};
            out.room[vertex] = share;
            out.rank[vertex] = rank;
        }
    out.width = 2 * kMargin + (across ? gap * gaps : breadth);
    out.height = 2 * kHead + (across ? breadth : gap * gaps);
    return out;
}

/// The vertices by their distance from `first`, and for each the one from which it was reached: of `first`
/// itself.
std::vector<Vertex> walk(const std::vector<std::vector<Vertex>>& next, Vertex first,
                         std::vector<Vertex>& from) {
    std::vector<bool> seen(next.size());
    from.assign(next.size(), first);
    std::vector<Vertex> out{first};
    seen[first] = true;
    for (std::size_t at = 0; at < out.size(); ++at)
        for (const Vertex vertex : next[out[at]])
            if (!seen[vertex]) {
                seen[vertex] = true;
                from[vertex] = out[at];
                out.push_back(vertex);
            }
    return out;
}

/// The middle of the longest way: of two the one that is no terminal, else the one of the lower number.
Vertex middle_of(const eco::LinkGraph& graph, const std::vector<std::vector<Vertex>>& next) {
    std::vector<Vertex> from;
    const Vertex end = walk(next, 0, from).back();
    const Vertex other = walk(next, end, from).back();
    std::vector<Vertex> way{other};
    while (way.back() != end) way.push_back(from[way.back()]);
    const Vertex low = way[(way.size() - 1) / 2];
    const Vertex high = way[way.size() / 2];
    const auto is_terminal = [&](Vertex vertex) {
        return std::any_of(graph.terminals.begin(), graph.terminals.end(),
                           [vertex](const eco::Terminal& each) { return each.in == vertex; });
    };
    if (is_terminal(low) != is_terminal(high)) return is_terminal(low) ? high : low;
    return std::min(low, high);
}

/// A tree from its middle down: leaves side by side, every other vertex above the middle of its children.
class Tree {
  public:
    explicit Tree(const eco::LinkGraph& graph)
      : graph_(graph)
      , next_(neighbours(graph))
      , order_(walk(next_, middle_of(graph, next_), above_)) {}

    Layout lay_out() {
        Layout out = empty(graph_, Shape::levels);
        const std::vector<double> beside = places();
        std::size_t leaves = 0;
        for (const Vertex vertex : order_) leaves += is_leaf(vertex) ? 1 : 0;
        std::size_t deepest = 0;
        for (const Vertex vertex : order_)
            if (vertex != order_.front()) {
                out.rank[vertex] = out.rank[above_[vertex]] + 1;
                deepest = std::max(deepest, out.rank[vertex]);
            }
        const double pitch = pitch_of(leaves, 64);
        const double gap = std::clamp(pitch * static_cast<double>(leaves) / 10, 70.0, 110.0);
        std::vector<double> last(deepest + 1, -std::numeric_limits<double>::infinity());
        std::vector<Vertex> last_vertex(deepest + 1);
        for (const Vertex vertex : order_) {
            const std::size_t rank = out.rank[vertex];
            out.vertices[vertex] = {kMargin + pitch * (beside[vertex] + 0.5),
                                    kHead + gap * static_cast<double>(rank)};
            const double room = pitch * (beside[vertex] - last[rank]);
            out.room[vertex] = room;
            if (std::isfinite(room))
                out.room[last_vertex[rank]] = std::min(out.room[last_vertex[rank]], room);
            last[rank] = beside[vertex];
            last_vertex[rank] = vertex;
        }
        out.width = 2 * kMargin + pitch * static_cast<double>(leaves);
        out.height = 2 * kHead + gap * static_cast<double>(deepest);
        for (double& room : out.room) room = std::min(room, out.width);
        return out;
    }

  private:
    bool is_leaf(Vertex vertex) const { return next_[vertex].size() == 1 && vertex != order_.front(); }

    /// In leaves from the left.
    std::vector<double> places() {
        std::vector<double> out(next_.size());
        double leaf = 0;
        std::vector<std::pair<Vertex, std::size_t>> open{{order_.front(), 0}};
        while (!open.empty()) {
            auto& [vertex, child] = open.back();
            if (child < next_[vertex].size()) {
                const Vertex below = next_[vertex][child++];
                if (below != above_[vertex]) open.emplace_back(below, 0);
                continue;
            }
            out[vertex] = is_leaf(vertex) ? leaf++ : middle(vertex, out);
            open.pop_back();
        }
        return out;
    }
    double middle(Vertex vertex, const std::vector<double>& places) const {
        double least = std::numeric_limits<double>::infinity();
        double greatest = -least;
        for (const Vertex each : next_[vertex])
            if (each != above_[vertex]) {
                least = std::min(least, places[each]);
                greatest = std::max(greatest, places[each]);
            }
        return (least + greatest) / 2;
    }

    const eco::LinkGraph& graph_;
    std::vector<std::vector<Vertex>> next_;
    std::vector<Vertex> above_;
    std::vector<Vertex> order_;
};

struct Place {
    std::size_t row, column;
    auto operator<=>(const Place&) const = default;
};

/// "p2.13" is row 2, column 13 of the grid "p".
std::optional<Place> place_of(std::string_view name, std::string_view& prefix) {
    const std::size_t digits = name.find_first_of("0123456789");
    const std::size_t dot = name.find('.', std::min(digits, name.size()));
    if (digits == std::string_view::npos || dot == std::string_view::npos) return std::nullopt;
    prefix = name.substr(0, digits);
    Place out{};
    const auto read = [](std::string_view text, std::size_t& number) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc{} && end == text.data() + text.size() && number < eco::kMostTerminals;
    };
    if (!read(name.substr(digits, dot - digits), out.row) || !read(name.substr(dot + 1), out.column))
        return std::nullopt;
    return out;
}

/// Nothing: the names do not tell a place of its own for each vertex.
std::optional<Layout> in_grid(const eco::LinkGraph& graph) {
    Layout out = empty(graph, Shape::grid);
    std::string_view prefix;
    std::vector<Place> places;
    std::size_t rows = 0;
    std::size_t columns = 0;
    for (const std::string& name : graph.vertices) {
        std::string_view own;
        const std::optional<Place> place = place_of(name, own);
        if (!place || (!places.empty() && own != prefix)) return std::nullopt;
        prefix = own;
        places.push_back(*place);
        rows = std::max(rows, place->row + 1);
        columns = std::max(columns, place->column + 1);
    }
    if (rows * columns > 4 * places.size()) return std::nullopt; // mostly empty
    const double pitch = std::max(rows, columns) <= 8 ? 92 : 64;
    for (std::size_t vertex = 0; vertex < places.size(); ++vertex) {
        out.vertices[vertex] = {kMargin + pitch * static_cast<double>(places[vertex].column),
                                kHead + pitch * static_cast<double>(places[vertex].row)};
        out.room[vertex] = pitch;
        out.rank[vertex] = places[vertex].row;
    }
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) return std::nullopt;
    out.width = 2 * kMargin + pitch * static_cast<double>(columns - 1);
    out.height = 2 * kHead + pitch * static_cast<double>(rows - 1);
    return out;
}

/// In the order in which a search in depth finds them: a ring comes out as one.
Layout in_circle(const eco::LinkGraph& graph) {
    Layout out = empty(graph, Shape::circle);
    const auto next = neighbours(graph);
    std::vector<bool> seen(next.size());
    std::vector<Vertex> order;
    for (Vertex first = 0; first < next.size(); ++first) {
        std::vector<Vertex> open{first};
        while (!open.empty()) {
            const Vertex vertex = open.back();
            open.pop_back();
            if (seen[vertex]) continue;
            seen[vertex] = true;
            order.push_back(vertex);
            open.insert(open.end(), next[vertex].rbegin(), next[vertex].rend());
        }
    }
    const auto count = static_cast<double>(order.size());
    const double pitch = order.size() <= 16 ? 80 : order.size() <= 64 ? 44 : 26;
    const double radius = std::max(110.0, pitch * count / (2 * std::numbers::pi));
    for (std::size_t at = 0; at < order.size(); ++at) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(at) / count;
        out.vertices[order[at]] = {kMargin + kHead + radius * (1 + std::sin(angle)),
                                   kMargin + radius * (1 - std::cos(angle))};
        out.room[order[at]] = 2 * std::numbers::pi * radius / count;
    }
    out.width = 2 * (kMargin + kHead + radius);
    out.height = 2 * (kMargin + radius);
    return out;
}

} // namespace

std::string_view to_string(Shape shape) noexcept {
    switch (shape) {
    case Shape::stages:
        return "stages";
    case Shape::levels:
        return "levels";
    case Shape::grid:
        return "grid";
    case Shape::circle:
        return "circle";
    }
    return "";
}

Layout lay_out(const eco::LinkGraph& graph) {
    if (auto stages = stages_of(graph)) {
        reduce_crossings(graph, *stages);
        return in_layers(graph, *stages, Shape::stages);
    }
    if (auto grid = in_grid(graph)) return *std::move(grid);
    if (is_tree(graph)) return Tree(graph).lay_out();
    if (auto levels = levels_of(graph)) {
        reduce_crossings(graph, *levels);
        return in_layers(graph, *levels, Shape::levels);
    }
    return in_circle(graph);
}

} // namespace plexus::tools::drawing
