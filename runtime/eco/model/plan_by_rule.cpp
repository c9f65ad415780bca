// SPDX-License-Identifier: BSD-3-Clause
#include "model/cluster_tree.h"
#include "plan/builder.h"
#include "plan/by_level.h"
#include "plexus/eco/levels.h"
#include "plexus/eco/poly_model.h"
#include "topology/refuse.h"

#include <algorithm>

namespace plexus::eco {
namespace {

bool spans_hosts(const Subnet& group, const Network& network) {
    return std::any_of(group.begin(), group.end(), [&](std::size_t member) {
        return !network.same_host(static_cast<Rank>(group.front()), static_cast<Rank>(member));
    });
}

/// The levels up to the clusters, and all. Empty: there is one cluster, or one host.
Levels to_clusters(const Network& network) {
    Levels out;
    for (const Partition& level : network.levels()) {
        if (level.size() == 1) return {};
        out.push_back(level);
        if (std::any_of(level.begin(), level.end(),
                        [&](const Subnet& group) { return spans_hosts(group, network); }))
            break;
    }
    out.push_back(network.levels().back());
    return out;
}

/// A message inside a cluster of several members.
Hockney mean_cost(const Subnet& cluster, const Network& network) {
    double latency_us = 0;
    double us_per_byte = 0;
    double pairs = 0;
    for (const std::size_t a : cluster)
        for (const std::size_t b : cluster) {
            if (a == b) continue;
            latency_us += network.latency_us(static_cast<Rank>(a), static_cast<Rank>(b));
            us_per_byte += network.us_per_byte(static_cast<Rank>(a), static_cast<Rank>(b));
            ++pairs;
        }
    constexpr double kMostBytesPerS = 1e15; // where bytes cost nothing: a bandwidth that is finite
    const double byte_s = std::max(us_per_byte / pairs * kSecondsPerUs, 1 / kMostBytesPerS);
    return {latency_us / pairs * kSecondsPerUs, 1 / byte_s};
}

InterclusterInstance instance_of(const PlanRequest& request, const Network& network,
                                 const Partition& clusters, const AlgorithmOptions& inside) {
    const auto has_root = [&](const Subnet& cluster) {
        return std::find(cluster.begin(), cluster.end(), std::size_t{request.root}) != cluster.end();
    };
    const double bytes = static_cast<double>(request.elements) * request.element_bytes;
    InterclusterInstance out;
    std::vector<Rank> coordinators;
    for (const Subnet& each : clusters) {
        if (has_root(each)) out.root = coordinators.size();
        coordinators.push_back(has_root(each) ? request.root : static_cast<Rank>(each.front()));
        const auto members = static_cast<Rank>(each.size());
        PlanRequest part = request;
        part.members = members;
        part.root = 0;
        out.inside_s.push_back(members == 1 ? 0 : predict_s(mean_cost(each, network), part, inside));
    }
    for (const Rank from : coordinators) {
        auto& latencies = out.latency_s.emplace_back();
        auto& spacings = out.spacing_s.emplace_back();
        for (const Rank to : coordinators) {
            latencies.push_back(from == to ? 0 : network.latency_us(from, to) * kSecondsPerUs);
            spacings.push_back(from == to ? 0 : bytes * network.us_per_byte(from, to) * kSecondsPerUs);
        }
    }
    return out;
}

} // namespace

Plan plan_by_rule(const PlanRequest& request, const Network& network, ScheduleRule rule,
                  const std::vector<AlgorithmOptions>& inside) {
    if (request.members != network.size())
        refuse(Status::bad_argument, "a task for {} members, and a network of {}", request.members,
               network.size());
    if (request.operation != Operation::broadcast && request.operation != Operation::reduce)
        refuse(Status::unsupported,
               "between clusters there are schedules of broadcast and reduce alone, not of {}",
               to_string(request.operation));
    Builder(request, 1); // refuses what makes no sense
    check_order(request);
    const Levels levels = to_clusters(network);
    if (levels.empty() || inside.empty()) return plan_by_level(request, network.levels(), inside);
    const std::size_t top = levels.size() - 1;
    const Partition& clusters = levels[top - 1];
    const InterclusterInstance instance = instance_of(request, network, clusters, inside.back());
    const bool is_searched = rule != ScheduleRule::optimal || clusters.size() <= kOptimalClusters;
    const InterclusterSchedule made = is_searched ? schedule(instance, rule) : earliest(schedules(instance));
    return plan_of_groups(request, levels, [&](std::size_t level, std::size_t) {
        const std::size_t last = inside.size() - 1;
        if (level < top) return GroupPattern{inside[last - std::min(level, last)]};
        return GroupPattern{{}, tree_of(made, instance.root, clusters.size())};
    });
}

} // namespace plexus::eco
