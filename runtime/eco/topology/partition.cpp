// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/partition.h"

#include "topology/edges.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {
namespace {

/// Who is with whom while subnets merge. A host alone is in no subnet, as in the paper.
class Subnets {
  public:
    explicit Subnets(std::size_t hosts)
      : parent_(hosts)
      , hosts_(hosts, 1)
      , least_(hosts, CostMatrix::kNotMeasured) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }

    std::size_t find(std::size_t host) {
        while (parent_[host] != host) host = parent_[host] = parent_[parent_[host]];
        return host;
    }
    bool is_subnet(std::size_t root) const { return hosts_[root] > 1; }
    double least(std::size_t root) const { return least_[root]; }

    void merge(std::size_t a, std::size_t b, double cost) {
        if (hosts_[a] < hosts_[b]) std::swap(a, b);
        parent_[b] = a;
        hosts_[a] += hosts_[b];
        least_[a] = std::min({cost, least_[a], least_[b]});
    }

    Partition take() {
        Partition out;
        std::vector<std::size_t> place(parent_.size(), parent_.size());
        for (std::size_t host = 0; host < parent_.size(); ++host) {
            std::size_t& mine = place[find(host)];
            if (mine == parent_.size()) {
                mine = out.size();
                out.emplace_back();
            }
            out[mine].push_back(host);
        }
        return out;
    }

  private:
    std::vector<std::size_t> parent_;
    std::vector<std::size_t> hosts_;
    std::vector<double> least_;
};

CostMatrix between(const CostMatrix& costs, const Partition& subnets) {
    std::vector<std::size_t> subnet_of(costs.size());
    for (std::size_t subnet = 0; subnet < subnets.size(); ++subnet)
        for (const std::size_t host : subnets[subnet]) subnet_of[host] = subnet;
    CostMatrix out(subnets.size());
    for (std::size_t a = 0; a < costs.size(); ++a)
        for (std::size_t b = a + 1; b < costs.size(); ++b)
            if (costs(a, b) < out(subnet_of[a], subnet_of[b]))
                out.set_both(subnet_of[a], subnet_of[b], costs(a, b));
    return out;
}

Partition in_hosts(const Partition& of_subnets, const Partition& subnets) {
    Partition out;
    for (const Subnet& group : of_subnets) {
        Subnet& mine = out.emplace_back();
        for (const std::size_t subnet : group)
            mine.insert(mine.end(), subnets[subnet].begin(), subnets[subnet].end());
        std::sort(mine.begin(), mine.end());
    }
    return out;
}

} // namespace

// Figure 2. The order of edges of equal cost does not matter: whether a subnet may take an
// edge depends on its least cost, which merges at that cost only keep or lower to a value
// that passes as well.
Partition partition(const CostMatrix& costs, Tolerance tolerance) {
    const std::vector<double> least = least_edges(costs);
    Subnets subnets(costs.size());
    for (const Edge& edge : sorted_edges(costs)) {
        const std::size_t a = subnets.find(edge.a);
        const std::size_t b = subnets.find(edge.b);
        if (a == b) continue;
        if (!tolerance.holds(edge.cost, least[edge.a]) || !tolerance.holds(edge.cost, least[edge.b]))
            continue;
        if (subnets.is_subnet(a) && !tolerance.holds(edge.cost, subnets.least(a))) continue;
        if (subnets.is_subnet(b) && !tolerance.holds(edge.cost, subnets.least(b))) continue;
        subnets.merge(a, b, edge.cost);
    }
    return subnets.take();
}

std::vector<Partition> hierarchy(const CostMatrix& costs, Tolerance tolerance) {
    std::vector<Partition> levels{partition(costs, tolerance)};
    CostMatrix coarse = between(costs, levels.back());
    while (true) {
        const Partition next = partition(coarse, tolerance);
        if (next.size() == coarse.size()) return levels;
        levels.push_back(in_hosts(next, levels.back()));
        coarse = between(coarse, next);
    }
}

} // namespace plexus::eco
