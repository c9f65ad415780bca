// SPDX-License-Identifier: BSD-3-Clause
// Small link graphs of every sort, from a seed.
#pragma once

#include "plexus/eco/link_graph.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

namespace plexus::testing {

/// Some terminals begin, or end, elsewhere: at a vertex without a terminal, or at a new one that has a link
/// to, or from, where they were.
inline void split_terminals(eco::LinkGraph& graph, std::mt19937& random) {
    std::vector<std::uint32_t> unused;
    for (std::uint32_t vertex = 0; vertex < graph.vertices.size(); ++vertex)
        if (std::none_of(graph.terminals.begin(), graph.terminals.end(),
                         [vertex](const eco::Terminal& each) { return each.in == vertex; }))
            unused.push_back(vertex);
    for (eco::Terminal& each : graph.terminals) {
        const bool begins = random() % 2 == 0;
        std::uint32_t& end = begins ? each.in : each.out;
        switch (random() % 3) {
        case 0:
            break;
        case 1:
            if (unused.empty()) break;
            end = unused.back();
            unused.pop_back();
            break;
        default:
            const auto added = static_cast<std::uint32_t>(graph.vertices.size());
            graph.vertices.push_back("t" + std::to_string(added));
            graph.links.push_back(begins ? eco::DirectedLink{added, end} : eco::DirectedLink{end, added});
            end = added;
        }
    }
}

/// A tree of 2 to 10 vertices with terminals in all of them or in its leaves alone.
inline eco::LinkGraph random_tree(std::mt19937& random) {
    eco::LinkGraph graph;
    const auto vertices = static_cast<std::uint32_t>(2 + random() % 9);
    std::vector<std::uint32_t> degree(vertices);
    for (std::uint32_t each = 0; each < vertices; ++each) {
        graph.vertices.push_back("v" + std::to_string(each));
        if (each == 0) continue;
        const auto parent = static_cast<std::uint32_t>(random() % each);
        graph.links.push_back({parent, each});
        graph.links.push_back({each, parent});
        ++degree[parent];
        ++degree[each];
    }
    const bool leaves = random() % 2 == 0;
    for (std::uint32_t each = 0; each < vertices; ++each)
        if (!leaves || degree[each] == 1) graph.terminals.push_back({each, each});
    std::shuffle(graph.terminals.begin(), graph.terminals.end(), random);
    graph.ports = random() % 2 == 0 ? eco::Ports::one : eco::Ports::all;
    return graph;
}

/// A tree, or a strongly connected graph of 3 to 8 vertices: a directed ring and some links more; of some of
/// these graphs terminals begin and end at different vertices.
inline eco::LinkGraph random_graph(std::mt19937& random) {
    if (random() % 3 == 0) return random_tree(random);
    eco::LinkGraph graph;
    const auto vertices = static_cast<std::uint32_t>(3 + random() % 6);
    for (std::uint32_t each = 0; each < vertices; ++each) {
        graph.vertices.push_back("v" + std::to_string(each));
        graph.links.push_back({each, (each + 1) % vertices});
        if (each < 2 || random() % 3 > 0) graph.terminals.push_back({each, each});
    }
    for (std::size_t more = random() % (2 * vertices); more > 0; --more) {
        const eco::DirectedLink link{static_cast<std::uint32_t>(random() % vertices),
                                     static_cast<std::uint32_t>(random() % vertices)};
        if (link.from != link.to &&
            std::find(graph.links.begin(), graph.links.end(), link) == graph.links.end())
            graph.links.push_back(link);
    }
    graph.ports = random() % 2 == 0 ? eco::Ports::one : eco::Ports::all;
    if (random() % 2 == 0) split_terminals(graph, random);
    return graph;
}

} // namespace plexus::testing
