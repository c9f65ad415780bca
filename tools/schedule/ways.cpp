// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/ways.h"

#include <algorithm>

namespace plexus::tools::schedule {

LinksInto links_into(const eco::LinkGraph& graph) {
    LinksInto out(graph.vertices.size());
    for (std::uint32_t link = 0; link < graph.links.size(); ++link) out[graph.links[link].to].push_back(link);
    return out;
}

WaysTo::WaysTo(const eco::LinkGraph& graph, const LinksInto& into, std::uint32_t vertex)
  : graph_(graph)
  , distances_(graph.vertices.size(), kUnreachable)
  , counts_(graph.vertices.size())
  , next_(graph.vertices.size(), kUnreachable) {
    std::vector<std::uint32_t> reached{vertex};
    distances_[vertex] = 0;
    counts_[vertex] = 1;
    // A vertex is looked at when all that are nearer to the end have been: its count is complete.
    for (std::size_t at = 0; at < reached.size(); ++at) {
        const std::uint32_t here = reached[at];
        for (const std::uint32_t link : into[here]) {
            const std::uint32_t from = graph.links[link].from;
            if (distances_[from] == kUnreachable) {
                distances_[from] = distances_[here] + 1;
                reached.push_back(from);
            }
            if (distances_[from] != distances_[here] + 1) continue;
            counts_[from] = std::min(kMostCounted, counts_[from] + counts_[here]);
            next_[from] = std::min(next_[from], link);
        }
    }
}

eco::LinkPath WaysTo::first(std::uint32_t from) const {
    eco::LinkPath out;
    if (distances_[from] == kUnreachable) return out;
    out.reserve(distances_[from]);
    for (std::uint32_t vertex = from; distances_[vertex] != 0; vertex = graph_.links[next_[vertex]].to)
        out.push_back(next_[vertex]);
    return out;
}

} // namespace plexus::tools::schedule
