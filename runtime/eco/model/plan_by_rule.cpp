// SPDX-License-Identifier: BSD-3-Clause
#include "model/plan_by_rule.h"

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

/// A message inside a cluster.
Hockney mean_cost(const Subnet& cluster, const Network& network) {
    if (cluster.size() == 1) return {};
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

} // namespace

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

PlansByRule::PlansByRule(const PlanRequest& request, const Network& network, Levels levels)
  : request_(request)
  , levels_(std::move(levels)) {
    const Partition& clusters = levels_[levels_.size() - 2];
    std::vector<Rank> coordinators;
    for (const Subnet& each : clusters) {
        const bool has_root = std::find(each.begin(), each.end(), std::size_t{request.root}) != each.end();
        if (has_root) ways_.root = coordinators.size();
        coordinators.push_back(has_root ? request.root : static_cast<Rank>(each.front()));
        costs_.push_back(mean_cost(each, network));
    }
    const double bytes = static_cast<double>(request.elements) * request.element_bytes;
    for (const Rank from : coordinators) {
        auto& latencies = ways_.latency_s.emplace_back();
        auto& spacings = ways_.spacing_s.emplace_back();
        for (const Rank to : coordinators) {
            latencies.push_back(from == to ? 0 : network.latency_us(from, to) * kSecondsPerUs);
            spacings.push_back(from == to ? 0 : bytes * network.us_per_byte(from, to) * kSecondsPerUs);
        }
    }
}

InterclusterInstance PlansByRule::instance(const AlgorithmOptions& inside) const {
    InterclusterInstance out = ways_;
    for (std::size_t cluster = 0; cluster < costs_.size(); ++cluster) {
        PlanRequest part = request_;
        part.members = static_cast<Rank>(levels_[levels_.size() - 2][cluster].size());
        part.root = 0;
        out.inside_s.push_back(part.members == 1 ? 0 : predict_s(costs_[cluster], part, inside));
    }
    return out;
}

Plan PlansByRule::plan(const InterclusterSchedule& between,
                       const std::vector<AlgorithmOptions>& inside) const {
    const std::size_t top = levels_.size() - 1;
    return plan_of_groups(request_, levels_, [&](std::size_t level, std::size_t) {
        const std::size_t last = inside.size() - 1;
        if (level < top) return GroupPattern{inside[last - std::min(level, last)]};
        return GroupPattern{{}, tree_of(between, ways_.root, costs_.size())};
    });
}

const InterclusterSchedule& by_rule(const std::vector<InterclusterSchedule>& all,
                                    ScheduleRule rule) noexcept {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [rule](const InterclusterSchedule& each) { return each.rule == rule; });
    return found == all.end() ? earliest(all) : *found;
}

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
    Levels levels = to_clusters(network);
    if (levels.empty() || inside.empty()) return plan_by_level(request, network.levels(), inside);
    const PlansByRule plans(request, network, std::move(levels));
    const InterclusterInstance between = plans.instance(inside.back());
    const bool is_searched = rule != ScheduleRule::optimal || between.inside_s.size() <= kOptimalClusters;
    return plans.plan(is_searched ? schedule(between, rule) : earliest(schedules(between)), inside);
}

} // namespace plexus::eco
