// SPDX-License-Identifier: BSD-3-Clause
// The networks of the paper (section 2) and other usual ones, by name.
#include "plexus/eco/link_graph.h"
#include "plexus/error.h"
#include "synthesis/shown.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace plexus::eco {
namespace {

using Number = std::uint32_t;

class Maker {
  public:
    Number vertex(std::string name) {
        graph_.vertices.push_back(std::move(name));
        return static_cast<Number>(graph_.vertices.size() - 1);
    }
    /// So many vertices in a row; returns the first.
    Number vertices(std::string_view prefix, Number count) {
        const auto first = static_cast<Number>(graph_.vertices.size());
        for (Number each = 0; each < count; ++each) vertex(fmt::format("{}{}", prefix, each));
        return first;
    }
    void link(Number from, Number to) { graph_.links.push_back({from, to}); }
    void both(Number a, Number b) {
        link(a, b);
        link(b, a);
    }
    void terminal(Number in, Number out) { graph_.terminals.push_back({in, out}); }
    /// A processor in each vertex from `first` on.
    void processors(Number first, Number count) {
        for (Number each = first; each < first + count; ++each) terminal(each, each);
    }
    LinkGraph finish(Ports ports) {
        graph_.ports = ports;
        return std::move(graph_);
    }

  private:
    LinkGraph graph_;
};

/// Stages of 2x2 switches. `into` tells which switch of a stage a line enters, and `lines` which lines leave
/// it.
template <typename Into, typename Line>
LinkGraph stages(Number n, Into into, Line line) {
    const auto depth = static_cast<Number>(std::countr_zero(n));
    Maker make;
    const Number in = make.vertices("in", n);
    std::vector<Number> first(depth);
    for (Number stage = 0; stage < depth; ++stage)
        first[stage] = make.vertices(fmt::format("s{}.", stage), n / 2);
    const Number out = make.vertices("out", n);
    for (Number each = 0; each < n; ++each) {
        make.link(in + each, first[0] + into(0, each));
        make.terminal(in + each, out + each);
    }
    for (Number stage = 0; stage < depth; ++stage)
        for (Number half = 0; half < n; ++half) {
            const Number leaves = line(stage, half / 2, half % 2);
            const bool last = stage + 1 == depth;
            make.link(first[stage] + half / 2,
                      last ? out + leaves : first[stage + 1] + into(stage + 1, leaves));
        }
    return make.finish(Ports::one);
}

LinkGraph omega(Number n) {
    return stages(
        n, [n](Number, Number line) { return ((line << 1 | line / (n / 2)) & (n - 1)) / 2; },
        [](Number, Number node, Number half) { return 2 * node + half; });
}

LinkGraph butterfly(Number n) {
    const auto bit = [n](Number stage) { return n / 2 >> stage; };
    return stages(
        n,
        [bit](Number stage, Number line) { return line / (2 * bit(stage)) * bit(stage) + line % bit(stage); },
        [bit](Number stage, Number node, Number half) {
            return node / bit(stage) * 2 * bit(stage) + node % bit(stage) + half * bit(stage);
        });
}

LinkGraph clos(Number n, Number m, Number r) {
    Maker make;
    const Number in = make.vertices("in", n * r);
    const Number first = make.vertices("first", r);
    const Number middle = make.vertices("middle", m);
    const Number last = make.vertices("last", r);
    const Number out = make.vertices("out", n * r);
    for (Number each = 0; each < n * r; ++each) {
        make.link(in + each, first + each / n);
        make.link(last + each / n, out + each);
        make.terminal(in + each, out + each);
    }
    for (Number side = 0; side < r; ++side)
        for (Number each = 0; each < m; ++each) {
            make.link(first + side, middle + each);
            make.link(middle + each, last + side);
        }
    return make.finish(Ports::one);
}

/// Vertices in the order of a heap; those from `switches` on are leaves.
LinkGraph tree(Number arity, Number switches, Number leaves) {
    Maker make;
    const Number first = make.vertices("s", switches);
    const Number leaf = make.vertices("p", leaves);
    for (Number each = 1; each < switches + leaves; ++each)
        make.both(first + (each - 1) / arity, first + each);
    make.processors(leaf, leaves);
    return make.finish(Ports::one);
}

LinkGraph full_tree(Number n) {
    Maker make;
    make.processors(make.vertices("p", n), n);
    for (Number each = 1; each < n; ++each) make.both((each - 1) / 2, each);
    return make.finish(Ports::all);
}

/// 2-ary k-tree: switch w of level u and switch w' of level u + 1 are joined where they differ in bit u at
/// most.
LinkGraph fat_tree(Number n) {
    const auto levels = static_cast<Number>(std::countr_zero(n));
    Maker make;
    const Number leaf = make.vertices("p", n);
    std::vector<Number> first(levels);
    for (Number level = 0; level < levels; ++level)
        first[level] = make.vertices(fmt::format("s{}.", level), n / 2);
    for (Number each = 0; each < n; ++each) make.both(leaf + each, first[0] + each / 2);
    for (Number level = 0; level + 1 < levels; ++level)
        for (Number each = 0; each < n / 2; ++each)
            for (const Number above : {each, each ^ (Number{1} << level)})
                make.both(first[level] + each, first[level + 1] + above);
    make.processors(leaf, n);
    return make.finish(Ports::one);
}

LinkGraph ring(Number n) {
    Maker make;
    make.processors(make.vertices("p", n), n);
    for (Number each = 0; each + 1 < n; ++each) make.both(each, each + 1);
    if (n > 2) make.both(n - 1, 0);
    return make.finish(Ports::all);
}

LinkGraph grid(Number rows, Number columns, bool wraps) {
    Maker make;
    for (Number each = 0; each < rows * columns; ++each)
        make.vertex(fmt::format("p{}.{}", each / columns, each % columns));
    const auto at = [columns](Number row, Number column) { return row * columns + column; };
    for (Number row = 0; row < rows; ++row)
        for (Number column = 0; column < columns; ++column) {
            if (column + 1 < columns) make.both(at(row, column), at(row, column + 1));
            if (row + 1 < rows) make.both(at(row, column), at(row + 1, column));
            if (wraps && column + 1 == columns && columns > 2) make.both(at(row, column), at(row, 0));
            if (wraps && row + 1 == rows && rows > 2) make.both(at(row, column), at(0, column));
        }
    make.processors(0, rows * columns);
    return make.finish(Ports::all);
}

LinkGraph cube(Number dimensions) {
    const Number n = Number{1} << dimensions;
    Maker make;
    make.processors(make.vertices("p", n), n);
    for (Number each = 0; each < n; ++each)
        for (Number dimension = 0; dimension < dimensions; ++dimension)
            if (each < (each ^ (Number{1} << dimension))) make.both(each, each ^ (Number{1} << dimension));
    return make.finish(Ports::all);
}

/// "8", "3-3-4", "4x4": the numbers, none above kMostTerminals; empty: something else.
std::vector<Number> numbers(std::string_view text, char between) {
    std::vector<Number> out;
    for (;;) {
        Number value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || (end - text.data() > 1 && text.front() == '0') || value > kMostTerminals)
            return {};
        out.push_back(value);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty()) return out;
        if (text.front() != between || out.size() == 3) return {};
        text.remove_prefix(1);
    }
}

/// base^exponent, or one more than the most there may be.
std::size_t power(std::size_t base, std::size_t exponent) {
    std::size_t out = 1;
    for (; exponent > 0 && out <= kMostTerminals; --exponent) out *= base;
    return std::min(out, kMostTerminals + 1);
}

bool is_power_of_two(std::size_t n) { return n >= 2 && std::has_single_bit(n); }

std::optional<LinkGraph> of_one_number(std::string_view kind, Number n) {
    if (kind == "omega" && is_power_of_two(n)) return omega(n);
    if (kind == "butterfly" && is_power_of_two(n)) return butterfly(n);
    if (kind == "clos" && n == 12) return clos(3, 3, 4);
    if (kind == "clos" && n == 16) return clos(4, 4, 4);
    if (kind == "btree" && is_power_of_two(n)) return tree(2, n - 1, n);
    if (kind == "ftree" && is_power_of_two(n)) return fat_tree(n);
    if (kind == "fbtree" && n >= 3 && is_power_of_two(n + 1)) return full_tree(n);
    if (kind == "star" && n >= 2) return tree(n, 1, n);
    if (kind == "ring" && n >= 2) return ring(n);
    if (kind == "cube" && n >= 1 && power(2, n) <= kMostTerminals) return cube(n);
    return std::nullopt;
}

std::optional<LinkGraph> made(std::string_view kind, std::string_view sizes) {
    if (kind == "mesh" || kind == "torus") {
        const auto size = numbers(sizes, 'x');
        if (size.size() != 2 || size[0] == 0 || size[1] == 0) return std::nullopt;
        const std::size_t all = std::size_t{size[0]} * size[1];
        if (all < 2 || all > kMostTerminals) return std::nullopt;
        return grid(size[0], size[1], kind == "torus");
    }
    const auto size = numbers(sizes, '-');
    if (size.size() == 1) return of_one_number(kind, size[0]);
    if (kind == "karytree" && size.size() == 2 && size[0] >= 2 && size[1] >= 1) {
        const std::size_t leaves = power(size[0], size[1]);
        if (leaves > kMostTerminals) return std::nullopt;
        return tree(size[0], static_cast<Number>((leaves - 1) / (size[0] - 1)), static_cast<Number>(leaves));
    }
    if (kind == "clos" && size.size() == 3 && size[0] > 0 && size[1] > 0 && size[2] > 0) {
        const std::size_t all = std::size_t{size[0]} * size[2];
        if (all < 2 || all > kMostTerminals || 2 * (all + std::size_t{size[1]} * size[2]) > kMostLinks)
            return std::nullopt;
        return clos(size[0], size[1], size[2]);
    }
    return std::nullopt;
}

} // namespace

const std::vector<std::string_view>& graph_kinds() {
    static const std::vector<std::string_view> kinds{
        "omega-N",  "butterfly-N",  "clos-12", "clos-16", "clos-n-m-r", "btree-N",   "ftree-N",
        "fbtree-N", "karytree-k-h", "star-N",  "ring-N",  "mesh-RxC",   "torus-RxC", "cube-d"};
    return kinds;
}

LinkGraph named_graph(std::string_view name) {
    const std::size_t dash = name.find('-');
    if (dash != std::string_view::npos)
        if (auto graph = made(name.substr(0, dash), name.substr(dash + 1))) {
            graph->name = name;
            return *std::move(graph);
        }
    const std::string_view kind = name.substr(0, dash);
    for (const std::string_view each : graph_kinds())
        if (dash != std::string_view::npos && kind == each.substr(0, each.find('-')))
            throw Error(Status::bad_argument,
                        fmt::format("{} is no {}: the size is none that this kind of network has, or it "
                                    "has more than {} terminals",
                                    shown(std::string(name)), each, kMostTerminals));
    throw Error(Status::bad_argument, fmt::format("there is no network {}: known are {}",
                                                  shown(std::string(name)), fmt::join(graph_kinds(), ", ")));
}

} // namespace plexus::eco
