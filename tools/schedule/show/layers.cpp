// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/show/layers.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace plexus::tools::drawing {
namespace {

using Vertex = std::uint32_t;

constexpr Vertex kNone = std::numeric_limits<Vertex>::max();
constexpr int kSweeps = 12;

Layers layers_by(const std::vector<Vertex>& layer_of) {
    Layers out;
    for (Vertex vertex = 0; vertex < layer_of.size(); ++vertex) {
        if (layer_of[vertex] >= out.size()) out.resize(layer_of[vertex] + std::size_t{1});
        out[layer_of[vertex]].push_back(vertex);
    }
    return out;
}

/// Terminals by their numbers, before other vertices of the same layer.
void put_terminals_in_order(const eco::LinkGraph& graph, Layers& layers) {
    std::vector<std::size_t> key(graph.vertices.size());
    std::iota(key.begin(), key.end(), graph.terminals.size());
    for (std::size_t number = 0; number < graph.terminals.size(); ++number)
        key[graph.terminals[number].in] = key[graph.terminals[number].out] = number;
    for (std::vector<Vertex>& layer : layers)
        std::sort(layer.begin(), layer.end(), [&](Vertex a, Vertex b) { return key[a] < key[b]; });
}

/// How many pairs of links between two layers cross.
std::size_t crossings(const std::vector<std::vector<Vertex>>& next, const std::vector<Vertex>& upper,
                      const std::vector<Vertex>& lower) {
    std::vector<Vertex> place(next.size(), kNone);
    for (std::size_t at = 0; at < lower.size(); ++at) place[lower[at]] = static_cast<Vertex>(at);
    std::vector<std::size_t> tree(lower.size() + 1); // sums of binary indices
    std::size_t links = 0;
    std::size_t out = 0;
    for (const Vertex vertex : upper) {
        std::vector<Vertex> ends;
        for (const Vertex each : next[vertex])
            if (place[each] != kNone) ends.push_back(place[each]);
        for (const Vertex end : ends) {
            std::size_t before = 0;
            for (std::size_t at = end + std::size_t{1}; at > 0; at &= at - 1) before += tree[at];
            out += links - before;
        }
        for (const Vertex end : ends)
            for (std::size_t at = end + std::size_t{1}; at < tree.size(); at += at & (~at + 1)) ++tree[at];
        links += ends.size();
    }
    return out;
}

std::size_t all_crossings(const std::vector<std::vector<Vertex>>& next, const Layers& layers) {
    std::size_t out = 0;
    for (std::size_t at = 0; at + 1 < layers.size(); ++at) out += crossings(next, layers[at], layers[at + 1]);
    return out;
}

/// Each vertex of `layer` to the middle of its neighbours in `fixed`.
void sort_by_middles(const std::vector<std::vector<Vertex>>& next, const std::vector<Vertex>& fixed,
                     std::vector<Vertex>& layer) {
    std::vector<double> place(next.size(), -1);
    for (std::size_t at = 0; at < fixed.size(); ++at) place[fixed[at]] = static_cast<double>(at) + 0.5;
    std::vector<double> middle(next.size());
    for (std::size_t at = 0; at < layer.size(); ++at) {
        double sum = 0;
        double count = 0;
        for (const Vertex each : next[layer[at]])
            if (place[each] >= 0) {
                sum += place[each];
                ++count;
            }
        const double own = (static_cast<double>(at) + 0.5) / static_cast<double>(layer.size());
        middle[layer[at]] = count > 0 ? sum / count : own * static_cast<double>(fixed.size());
    }
    std::stable_sort(layer.begin(), layer.end(), [&](Vertex a, Vertex b) { return middle[a] < middle[b]; });
}

} // namespace

std::vector<std::vector<Vertex>> neighbours(const eco::LinkGraph& graph) {
    std::vector<std::vector<Vertex>> out(graph.vertices.size());
    for (const eco::DirectedLink& link : graph.links) {
        out[link.from].push_back(link.to);
        out[link.to].push_back(link.from);
    }
    for (std::vector<Vertex>& each : out) {
        std::sort(each.begin(), each.end());
        each.erase(std::unique(each.begin(), each.end()), each.end());
    }
    return out;
}

std::optional<Layers> stages_of(const eco::LinkGraph& graph) {
    std::vector<std::vector<Vertex>> behind(graph.vertices.size());
    std::vector<std::size_t> before(graph.vertices.size());
    for (const eco::DirectedLink& link : graph.links) {
        behind[link.from].push_back(link.to);
        ++before[link.to];
    }
    std::vector<Vertex> ready;
    std::vector<Vertex> layer_of(graph.vertices.size());
    for (Vertex vertex = 0; vertex < before.size(); ++vertex)
        if (before[vertex] == 0) ready.push_back(vertex);
    for (std::size_t at = 0; at < ready.size(); ++at)
        for (const Vertex vertex : behind[ready[at]]) {
            layer_of[vertex] = std::max(layer_of[vertex], layer_of[ready[at]] + 1);
            if (--before[vertex] == 0) ready.push_back(vertex);
        }
    if (ready.size() != graph.vertices.size()) return std::nullopt;
    const Vertex last = *std::max_element(layer_of.begin(), layer_of.end());
    for (const eco::Terminal& each : graph.terminals) // at the right, however short the way there
        if (behind[each.out].empty()) layer_of[each.out] = last;
    Layers out = layers_by(layer_of);
    put_terminals_in_order(graph, out);
    return out;
}

std::optional<Layers> levels_of(const eco::LinkGraph& graph) {
    std::vector<eco::DirectedLink> sorted = graph.links;
    std::sort(sorted.begin(), sorted.end());
    for (const eco::DirectedLink& each : sorted)
        if (!std::binary_search(sorted.begin(), sorted.end(), eco::DirectedLink{each.to, each.from}))
            return std::nullopt;
    const auto next = neighbours(graph);
    std::vector<Vertex> level(graph.vertices.size(), kNone);
    std::vector<Vertex> reached;
    for (const eco::Terminal& each : graph.terminals)
        for (const Vertex vertex : {each.in, each.out})
            if (level[vertex] == kNone) {
                level[vertex] = 0;
                reached.push_back(vertex);
            }
    for (std::size_t at = 0; at < reached.size(); ++at)
        for (const Vertex vertex : next[reached[at]])
            if (level[vertex] == kNone) {
                level[vertex] = level[reached[at]] + 1;
                reached.push_back(vertex);
            }
    if (reached.size() != graph.vertices.size() || level[reached.back()] == 0) return std::nullopt;
    for (const eco::DirectedLink& each : graph.links)
        if (level[each.from] + 1 != level[each.to] && level[each.to] + 1 != level[each.from])
            return std::nullopt;
    Layers out = layers_by(level);
    put_terminals_in_order(graph, out);
    std::reverse(out.begin(), out.end());
    return out;
}

void reduce_crossings(const eco::LinkGraph& graph, Layers& layers) {
    if (!graph.name.empty()) return;
    const auto next = neighbours(graph);
    Layers now = layers;
    std::size_t least = all_crossings(next, layers);
    const auto keep_if_better = [&] {
        const std::size_t count = all_crossings(next, now);
        if (count >= least) return;
        least = count;
        layers = now;
    };
    for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
        for (std::size_t at = now.size() - 1; at > 0; --at) sort_by_middles(next, now[at], now[at - 1]);
        keep_if_better();
        for (std::size_t at = 1; at < now.size(); ++at) sort_by_middles(next, now[at - 1], now[at]);
        keep_if_better();
    }
}

} // namespace plexus::tools::drawing
