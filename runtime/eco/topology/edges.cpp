// SPDX-License-Identifier: BSD-3-Clause
#include "topology/edges.h"

#include "plexus/eco/partition.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cmath>

namespace plexus::eco {

std::vector<Edge> sorted_edges(const CostMatrix& costs) {
    std::vector<Edge> edges;
    for (std::uint32_t a = 0; a < costs.size(); ++a)
        for (std::uint32_t b = a + 1; b < costs.size(); ++b) {
            if (costs(a, b) != costs(b, a))
                refuse(Status::bad_argument,
                       "the matrix is not symmetric: host {} to {} costs {}, and {} the other way", a, b,
                       costs(a, b), costs(b, a));
            if (!std::isinf(costs(a, b))) edges.push_back({costs(a, b), a, b});
        }
    std::sort(edges.begin(), edges.end(),
              [](const Edge& one, const Edge& other) { return one.cost < other.cost; });
    return edges;
}

std::vector<double> least_edges(const CostMatrix& costs) {
    std::vector<double> least(costs.size(), CostMatrix::kNotMeasured);
    for (std::size_t a = 0; a < costs.size(); ++a)
        for (std::size_t b = 0; b < costs.size(); ++b)
            if (a != b) least[a] = std::min(least[a], costs(a, b));
    return least;
}

std::vector<HostPair> edges_to_remeasure(const CostMatrix& costs, Tolerance tolerance) {
    // A host's wrong edges are few; where more than these agree before a jump, they confirm
    // each other.
    const std::size_t few = 4 + costs.size() / 32;
    std::vector<std::vector<Edge>> of_host(costs.size());
    for (const Edge& edge : sorted_edges(costs)) {
        if (of_host[edge.a].size() <= few) of_host[edge.a].push_back(edge);
        if (of_host[edge.b].size() <= few) of_host[edge.b].push_back(edge);
    }
    std::vector<HostPair> out;
    for (const std::vector<Edge>& cheapest : of_host) {
        std::size_t before_jump = cheapest.size() <= few ? cheapest.size() : 0;
        for (std::size_t at = 1; at < cheapest.size() && before_jump < cheapest.size(); ++at)
            if (!tolerance.holds(cheapest[at].cost, cheapest[at - 1].cost)) before_jump = at;
        for (std::size_t at = 0; at < before_jump; ++at) out.push_back({cheapest[at].a, cheapest[at].b});
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

} // namespace plexus::eco
