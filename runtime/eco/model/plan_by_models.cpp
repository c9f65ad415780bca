// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/poly_model.h"

#include "model/cluster_tree.h"
#include "plan/builder.h"
#include "plan/by_level.h"
#include "plan/exchange.h"
#include "plexus/eco/levels.h"
#include "topology/refuse.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace plexus::eco {
namespace {

/// The hosts that have members, in the order of their first members, and who is where.
struct MemberHosts {
    std::vector<std::size_t> places; ///< in the map
    Partition members;               ///< of each host
    std::vector<std::size_t> of;     ///< for each member, its host's place in `members`
};

MemberHosts hosts_of(const std::vector<std::size_t>& host_of) {
    MemberHosts out;
    for (std::size_t member = 0; member < host_of.size(); ++member) {
        const auto known = std::find(out.places.begin(), out.places.end(), host_of[member]);
        out.of.push_back(static_cast<std::size_t>(known - out.places.begin()));
        if (known == out.places.end()) {
            out.places.push_back(host_of[member]);
            out.members.emplace_back();
        }
        out.members[out.of.back()].push_back(member);
    }
    return out;
}

/// The map of these hosts alone.
Map part_of(const Map& map, const std::vector<std::size_t>& hosts) {
    std::vector<std::string> names;
    std::vector<std::optional<std::size_t>> place(map.hosts().size());
    for (const std::size_t host : hosts) {
        place[host] = names.size();
        names.push_back(map.hosts()[host]);
    }
    Map out(std::move(names), map.methods(), map.sizes_bytes(), map.date());
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size)
        for (std::size_t from = 0; from < hosts.size(); ++from)
            for (std::size_t to = 0; to < hosts.size(); ++to) {
                const Cost& cost = map.cost(size, hosts[from], hosts[to]);
                if (from != to && cost.measured()) out.set(size, from, to, cost);
            }
    std::vector<AcquiredModel> acquired;
    for (const AcquiredModel& each : map.acquired()) {
        if (!place[each.from] || !place[each.to]) continue;
        acquired.push_back(each);
        acquired.back().from = *place[each.from];
        acquired.back().to = *place[each.to];
    }
    out.set_acquired(std::move(acquired));
    return out;
}

/// What ends first between the members of one host.
AlgorithmOptions inside_host(const PlanRequest& request, const Subnet& members) {
    if (members.size() == 1) return {};
    constexpr LocalCost kLocal;
    const Hockney cost{kLocal.latency_us * kSecondsPerUs, 1 / (kLocal.us_per_byte * kSecondsPerUs)};
    const auto root = std::find(members.begin(), members.end(), std::size_t{request.root});
    PlanRequest part = request;
    part.members = static_cast<Rank>(members.size());
    part.root = root == members.end() ? 0 : static_cast<Rank>(root - members.begin());
    return earliest(predict_patterns(cost, part)).options;
}

/// Patterns for the groups of each level.
struct LevelPatterns {
    Levels levels;
    std::vector<std::vector<GroupPattern>> patterns;

    void add(Partition level, std::vector<GroupPattern> each) {
        levels.push_back(std::move(level));
        patterns.push_back(std::move(each));
    }
};

LevelPatterns patterns_for(const PlanRequest& request, const MemberHosts& hosts,
                           const PolyPrediction& found) {
    LevelPatterns out;
    std::vector<GroupPattern> each;
    if (hosts.members.size() < request.members) {
        for (const Subnet& members : hosts.members) each.push_back({inside_host(request, members)});
        out.add(hosts.members, std::exchange(each, {}));
    }
    Partition clusters;
    for (const ClusterPrediction& cluster : found.clusters) {
        Subnet& members = clusters.emplace_back();
        for (const std::size_t host : cluster.hosts)
            members.insert(members.end(), hosts.members[host].begin(), hosts.members[host].end());
        std::sort(members.begin(), members.end());
        each.push_back({cluster.fastest.options});
    }
    out.add(std::move(clusters), std::exchange(each, {}));
    if (found.clusters.size() == 1) return out;
    Subnet all(request.members);
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (found.schedules.empty()) {
        each.push_back({found.fastest.options});
    } else {
        // Hosts are in the order of their first members, and so are clusters, as places in a level are.
        const std::size_t count = found.clusters.size();
        each.push_back({{}, tree_of(found.schedules[found.chosen], found.between.root, count)});
    }
    out.add({std::move(all)}, std::move(each));
    return out;
}

Plan plan_on(const PlanRequest& request, const MemberHosts& hosts, const PolyPrediction& found) {
    const LevelPatterns all = patterns_for(request, hosts, found);
    if (found.exchange && hosts.members.size() == request.members)
        return plan_exchange(request, all.levels.front(), found.exchange->options);
    if (all.levels.size() == 1 && request.members > 1)
        return plan(request, all.patterns.front().front().options);
    return plan_of_groups(request, all.levels,
                          [&](std::size_t level, std::size_t group) { return all.patterns[level][group]; });
}

} // namespace

Plan to_plan(const PolyPrediction& prediction, const PlanRequest& request) {
    if (!prediction.missing.empty()) refuse(Status::unsupported, "there is no plan: {}", prediction.missing);
    if (request.operation != prediction.operation || request.root != prediction.root)
        refuse(Status::bad_argument, "the prediction is for a {} with root {}, not for a {} with root {}",
               to_string(prediction.operation), prediction.root, to_string(request.operation), request.root);
    std::size_t hosts = 0;
    for (const ClusterPrediction& each : prediction.clusters) hosts += each.hosts.size();
    if (request.members != hosts)
        refuse(Status::bad_argument, "the prediction is for {} hosts, not for {} members", hosts,
               request.members);
    if (prediction.clusters.size() > 1) check_order(request);
    std::vector<std::size_t> host_of(hosts);
    std::iota(host_of.begin(), host_of.end(), std::size_t{0});
    return plan_on(request, hosts_of(host_of), prediction);
}

Plan plan_by_models(const PlanRequest& request, const Map& map, const std::vector<std::size_t>& host_of,
                    Tolerance tolerance) {
    if (request.members != host_of.size())
        refuse(Status::bad_argument, "a task for {} members, and hosts of {}", request.members,
               host_of.size());
    if (std::any_of(host_of.begin(), host_of.end(),
                    [&](std::size_t host) { return host >= map.hosts().size(); }))
        refuse(Status::bad_argument, "a member's host is none of the map's {}", map.hosts().size());
    Builder(request, 1); // refuses what makes no sense
    check_order(request);
    const MemberHosts hosts = hosts_of(host_of);
    PolyRequest asked;
    asked.operation = request.operation;
    asked.bytes = request.elements * request.element_bytes;
    asked.root = hosts.of[request.root];
    asked.tolerance = tolerance;
    const PolyPrediction found = predict(part_of(map, hosts.places), asked);
    if (!found.missing.empty()) refuse(Status::unsupported, "the models choose no plan: {}", found.missing);
    return plan_on(request, hosts, found);
}

} // namespace plexus::eco
