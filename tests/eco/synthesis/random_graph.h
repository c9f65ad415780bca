// SPDX-License-Identifier: BSD-3-Clause
// Small link graphs of every sort, from a seed.
#pragma once

#include "plexus/eco/link_graph.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

namespace plexus::testing {

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

/// A tree, or a strongly connected graph of 3 to 8 vertices: a directed ring and some links more.
inline eco::LinkGraph random_graph(std::mt19937& random) {
    if (random() % 2 == 0) return random_tree(random);
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
    return graph;
}

} // namespace plexus::testing
