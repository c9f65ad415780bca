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
  , distances_(graph.vertices.size(), kUnreachable) {
    std::vector<std::uint32_t> reached{vertex};
    distances_[vertex] = 0;
    for (std::size_t at = 0; at < reached.size(); ++at)
        for (const std::uint32_t link : into[reached[at]])
            if (const std::uint32_t from = graph.links[link].from; distances_[from] == kUnreachable) {
                distances_[from] = distances_[reached[at]] + 1;
                reached.push_back(from);
            }
}

std::uint64_t WaysTo::count(std::uint32_t from) const {
    if (distances_[from] == kUnreachable) return 0;
    std::vector<std::vector<std::uint32_t>> starts(distances_[from] +
                                                   1); // links by their distance to the end
    for (std::uint32_t link = 0; link < graph_.links.size(); ++link) {
        const std::uint32_t left = distances_[graph_.links[link].to];
        if (left < distances_[from] && distances_[graph_.links[link].from] == left + 1)
            starts[left + 1].push_back(link);
    }
    std::vector<std::uint64_t> ways(graph_.vertices.size());
    for (std::size_t vertex = 0; vertex < ways.size(); ++vertex) ways[vertex] = distances_[vertex] == 0;
    for (const auto& links : starts)
        for (const std::uint32_t link : links) {
            std::uint64_t& sum = ways[graph_.links[link].from];
            sum = std::min(kMostCounted, sum + ways[graph_.links[link].to]);
        }
    return ways[from];
}

eco::LinkPath WaysTo::first(std::uint32_t from) const {
    eco::LinkPath out;
    if (distances_[from] == kUnreachable) return out;
    for (std::uint32_t vertex = from; distances_[vertex] != 0;)
        for (std::uint32_t link = 0; link < graph_.links.size(); ++link)
            if (graph_.links[link].from == vertex &&
                distances_[graph_.links[link].to] + 1 == distances_[vertex]) {
                out.push_back(link);
                vertex = graph_.links[link].to;
                break;
            }
    return out;
}

} // namespace plexus::tools::schedule
