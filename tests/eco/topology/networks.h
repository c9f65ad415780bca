// SPDX-License-Identifier: BSD-3-Clause
// Networks for tests: the poly-model paper's Table 2, planted subnets, and ways to disturb,
// relabel and scale a matrix. All by a seed.
#pragma once

#include "plexus/eco/partition.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace plexus::testing {

using Random = std::mt19937_64;

/// A number in [low, high), the same with every standard library.
inline double uniform(Random& random, double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

/// Hosts cluster by cluster; `cost[i][j]` between clusters, `cost[i][i]` inside.
inline eco::CostMatrix clusters(const std::vector<std::size_t>& sizes,
                                const std::vector<std::vector<double>>& cost) {
    std::vector<std::size_t> cluster_of;
    for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster)
        cluster_of.insert(cluster_of.end(), sizes[cluster], cluster);
    eco::CostMatrix out(cluster_of.size());
    for (std::size_t a = 0; a < out.size(); ++a)
        for (std::size_t b = a + 1; b < out.size(); ++b)
            out.set_both(a, b, cost[cluster_of[a]][cluster_of[b]]);
    return out;
}

/// The partition that keeps such clusters.
inline eco::Partition planted(const std::vector<std::size_t>& sizes) {
    eco::Partition out;
    std::size_t next = 0;
    for (const std::size_t size : sizes) {
        out.emplace_back(size);
        std::iota(out.back().begin(), out.back().end(), next);
        next += size;
    }
    return out;
}

/// Orsay, Grenoble (three clusters), Toulouse, Sophia; microseconds.
inline const std::vector<std::size_t> kGridSizes{20, 11, 1, 7, 20, 19};
inline eco::CostMatrix grid5000() {
    return clusters(kGridSizes, {{48.39, 6577.49, 6592.51, 6586.49, 5211.94, 8602.73},
                                 {6577.49, 35.52, 59.96, 59.96, 5387.48, 2736.56},
                                 {6592.51, 59.96, 0, 79.51, 5405.78, 2745.98},
                                 {6586.49, 59.96, 79.51, 60.08, 5393.98, 2740.26},
                                 {5211.94, 5387.48, 5405.78, 5393.98, 26.94, 3630.51},
                                 {8602.73, 2736.56, 2745.98, 2740.26, 3630.51, 35.04}});
}

/// Every edge times what `factor` gives for it.
template <class Factor>
eco::CostMatrix disturbed(const eco::CostMatrix& costs, Factor&& factor) {
    eco::CostMatrix out(costs.size());
    for (std::size_t a = 0; a < costs.size(); ++a)
        for (std::size_t b = a + 1; b < costs.size(); ++b) out.set_both(a, b, costs(a, b) * factor());
    return out;
}

inline std::vector<std::size_t> shuffled(std::size_t count, Random& random) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t left = count; left > 1; --left) std::swap(order[left - 1], order[random() % left]);
    return order;
}

/// Host h of `costs` becomes host label[h].
inline eco::CostMatrix relabelled(const eco::CostMatrix& costs, const std::vector<std::size_t>& label) {
    eco::CostMatrix out(costs.size());
    for (std::size_t a = 0; a < costs.size(); ++a)
        for (std::size_t b = 0; b < costs.size(); ++b)
            if (a != b) out.set(label[a], label[b], costs(a, b));
    return out;
}

inline eco::Partition relabelled(const eco::Partition& partition, const std::vector<std::size_t>& label) {
    eco::Partition out = partition;
    for (eco::Subnet& subnet : out) {
        for (std::size_t& host : subnet) host = label[host];
        std::sort(subnet.begin(), subnet.end());
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// Three to six subnets of four to twenty hosts, scattered over the labels; costs inside
/// differ by subnet and by up to 4 % among its edges, outside they are twenty times as much.
struct Planted {
    eco::CostMatrix costs;
    eco::Partition subnets;
};
inline Planted planted_subnets(Random& random) {
    std::vector<std::size_t> sizes(3 + random() % 4);
    for (std::size_t& size : sizes) size = 4 + random() % 17;
    std::vector<std::vector<double>> cost(sizes.size(), std::vector<double>(sizes.size()));
    for (std::size_t a = 0; a < sizes.size(); ++a)
        for (std::size_t b = a; b < sizes.size(); ++b)
            cost[a][b] = a == b ? uniform(random, 20, 60) : uniform(random, 1500, 9000);
    const eco::CostMatrix exact = clusters(sizes, cost);
    const auto label = shuffled(exact.size(), random);
    return {relabelled(disturbed(exact, [&] { return uniform(random, 0.98, 1.02); }), label),
            relabelled(planted(sizes), label)};
}

} // namespace plexus::testing
