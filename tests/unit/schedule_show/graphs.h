// SPDX-License-Identifier: BSD-3-Clause
// Graphs and schedules to draw. Test's thread.
#pragma once

#include "plexus/eco/round_schedule.h"
#include "tools/schedule/show/drawing.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace plexus::testing {

inline const char* const kDrawnGraphs[] = {
    "omega-8",  "omega-64",  "butterfly-16", "clos-12",   "clos-2-5-3", "btree-16",     "btree-64", "ftree-8",
    "ftree-64", "fbtree-15", "fbtree-63",    "star-2",    "star-24",    "karytree-4-3", "ring-2",   "ring-8",
    "ring-64",  "mesh-4x4",  "mesh-1x8",     "torus-3x5", "torus-8x8",  "torus-2x2",    "cube-1",   "cube-4"};

/// The same network without a name, its vertices, links and terminals in another order.
inline eco::LinkGraph shuffled(const eco::LinkGraph& graph, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint32_t> place(graph.vertices.size());
    std::iota(place.begin(), place.end(), 0U);
    std::shuffle(place.begin(), place.end(), random);
    eco::LinkGraph out;
    out.ports = graph.ports;
    for (std::size_t at = 0; at < place.size(); ++at) out.vertices.push_back("v" + std::to_string(at));
    for (const eco::DirectedLink& each : graph.links) out.links.push_back({place[each.from], place[each.to]});
    for (const eco::Terminal& each : graph.terminals)
        out.terminals.push_back({place[each.in], place[each.out]});
    std::shuffle(out.links.begin(), out.links.end(), random);
    std::shuffle(out.terminals.begin(), out.terminals.end(), random);
    return out;
}

/// A scatter from terminal 0, one message a round.
inline tools::drawing::Drawing scatter_on(eco::LinkGraph graph) {
    tools::drawing::Drawing out;
    out.title = "OAS on " + graph.name;
    out.schedule.kind = eco::CollectiveKind::oas;
    for (std::uint32_t to = 1; to < graph.terminals.size(); ++to)
        out.schedule.rounds.push_back({{0, to, 0, eco::shortest_paths(graph, 0, to, 1).front()}});
    out.bound = {out.schedule.rounds.size(), "terminal 0 sends them on one link"};
    out.graph = std::move(graph);
    return out;
}

} // namespace plexus::testing
