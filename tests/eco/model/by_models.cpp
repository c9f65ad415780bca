// SPDX-License-Identifier: BSD-3-Clause
// Plans of a group's members by the choice of the poly-model.
#include "support/catch.h"

#include "eco/model/samples.h"
#include "plexus/eco/poly_model.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace by_models_test {

using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t kClusterOf[] = {0, 0, 0, 0, 1, 1, 1, 2, 2};

/// What a message takes inside a cluster: no straight line, so that Hockney's model does not describe it.
double near_us(std::uint64_t bytes) {
    return 20 + 0.01 * static_cast<double>(bytes) + (bytes > 4096 ? 40 : 0);
}

/// Clusters of 4, 3 and 2 hosts, between which a message takes 1,000 us and 0.1 us a byte.

Map three_clusters() {
    const std::vector<std::uint64_t> sizes = doubled_sizes(8, 1 << 20);
    std::vector<std::string> hosts;
    for (std::size_t host = 0; host < std::size(kClusterOf); ++host)
        hosts.push_back("host" + std::to_string(host));
    Map out(hosts, {"tcp"}, sizes, "");
    for (std::size_t size = 0; size < sizes.size(); ++size)
        for (std::size_t from = 0; from < hosts.size(); ++from)
            for (std::size_t to = 0; to < hosts.size(); ++to) {
                if (from == to) continue;
                const bool near = kClusterOf[from] == kClusterOf[to];
                const double us = near ? near_us(sizes[size]) : 1000 + 0.1 * static_cast<double>(sizes[size]);
                out.set(size, from, to, cost_of(std::vector<double>{us}, 0));
            }
    return out;
}

bool scans(Operation operation) {
    return operation == Operation::scan || operation == Operation::exclusive_scan;
}

/// Messages between members for which `group_of` differs.
std::size_t crossings(const Plan& plan, const std::vector<std::size_t>& group_of) {
    std::set<std::pair<Rank, Rank>> out;
    for (const Message& each : plan.messages)
        if (group_of[each.from] != group_of[each.to]) out.emplace(each.from, each.to);
    return out.size();
}

} // namespace

TEST_CASE("where each host of the map has one member, the plan is that of the prediction") {
    const Map map = three_clusters();
    std::vector<std::size_t> host_of(map.hosts().size());
    std::iota(host_of.begin(), host_of.end(), std::size_t{0});
    for (const Operation operation : kOperations)
        for (const std::uint64_t bytes : {0, 8, 8'000, 512'000})
            for (const Rank root : {0u, 5u}) {
                if (scans(operation)) continue;
                PolyRequest asked;
                asked.operation = operation;
                asked.bytes = bytes;
                asked.root = root;
                const PlanRequest request{operation, 9, root, bytes, 1, true};
                CAPTURE(to_string(operation), bytes, root);
                CHECK(plan_by_models(request, map, host_of) == to_plan(predict(map, asked), request));
            }
}

TEST_CASE("members may be on some of the hosts, several on one, and in any order") {
    const Map map = three_clusters();
    std::mt19937 random(11);
    for (int round = 0; round < 40; ++round) {
        std::vector<std::size_t> host_of;
        const std::size_t members = 1 + random() % 14;
        for (std::size_t member = 0; member < members; ++member)
            host_of.push_back(random() % map.hosts().size());
        std::vector<std::size_t> cluster_of;
        for (const std::size_t host : host_of) cluster_of.push_back(kClusterOf[host]);
        const auto root = static_cast<Rank>(random() % members);
        const std::uint64_t bytes = std::uint64_t{1} << random() % 20;
        CAPTURE(host_of, root, bytes);
        for (const Operation operation : kOperations) {
            if (scans(operation)) continue;
            const PlanRequest request{operation, static_cast<Rank>(members), root, bytes, 1, true};
            CAPTURE(to_string(operation));
            const Plan plan = plan_by_models(request, map, host_of);
            CHECK(prove(plan));
            if (operation != Operation::reduce && operation != Operation::broadcast) continue;
            // Schedules enter each cluster once, and patterns stay inside theirs.
            const std::set<std::size_t> clusters(cluster_of.begin(), cluster_of.end());
            CHECK(crossings(plan, cluster_of) == clusters.size() - 1);
        }
    }
}

TEST_CASE("an all_to_all exchanges without coordinators where each host has one member, else it has some") {
    const Map map = three_clusters();
    const std::vector<std::size_t> alone{7, 0, 4, 8, 1, 5}; // two hosts of each cluster
    const std::vector<std::size_t> cluster_of{2, 0, 1, 2, 0, 1};
    const Plan plan = plan_by_models({Operation::all_to_all, 6, 0, 8'000, 1, true}, map, alone);
    CHECK(prove(plan));
    CHECK(crossings(plan, cluster_of) > 6); // more than from each cluster to each other one
    const std::vector<std::size_t> beside{7, 0, 4, 8, 1, 5, 5};
    const Plan by_level = plan_by_models({Operation::all_to_all, 7, 0, 8'000, 1, true}, map, beside);
    CHECK(prove(by_level));
    CHECK(crossings(by_level, {2, 0, 1, 2, 0, 1, 1}) <= 6);
}

TEST_CASE("hosts without members count for nothing, and neither does their cluster") {
    const Map map = three_clusters();
    const PlanRequest request{Operation::broadcast, 3, 1, 512'000, 1, true};
    const Plan plan = plan_by_models(request, map, {6, 4, 5});
    Map alone({"host6", "host4", "host5"}, {"tcp"}, map.sizes_bytes(), "");
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size)
        for (std::size_t from = 0; from < 3; ++from)
            for (std::size_t to = 0; to < 3; ++to)
                if (from != to) alone.set(size, from, to, map.cost(size, 4, 5));
    PolyRequest asked;
    asked.bytes = 512'000;
    asked.root = 1;
    CHECK(plan == to_plan(predict(alone, asked), request));
}

TEST_CASE("models that were acquired between hosts of members count, and those of other hosts do not") {
    Map map = three_clusters();
    AcquiredModel model;
    model.from = 0;
    model.to = 1;
    model.model = std::string(to_string(ModelKind::plogp));
    model.levels.resize(1);
    model.levels[0].latency_s = 1e-6; // a message occupies its sender for nearly all of its time
    for (const std::uint64_t bytes : map.sizes_bytes())
        model.levels[0].sizes.push_back({bytes, 1e-6, 1e-6, near_us(bytes) * 1e-6 - 1e-6});
    const PlanRequest request{Operation::broadcast, 4, 0, 8, 1, true};
    const std::vector<std::size_t> near{3, 1, 0, 2};
    const Plan before = plan_by_models(request, map, near);
    const std::vector<std::size_t> far{4, 5, 6, 4};
    const Plan elsewhere = plan_by_models(request, map, far);
    map.set_acquired({model});
    CHECK(plan_by_models(request, map, near) != before);
    CHECK(plan_by_models(request, map, far) == elsewhere);
}

TEST_CASE("what the models choose no plan for is refused in words") {
    const Map map = three_clusters();
    const std::vector<std::size_t> hosts{0, 1, 4, 5};
    const auto of = [](Operation operation, bool commutative = true) {
        return PlanRequest{operation, 4, 0, 100, 8, commutative};
    };
    CHECK_THROWS_WITH(plan_by_models(of(Operation::broadcast), map, {0, 1, 4}), Contains("hosts of 3"));
    CHECK_THROWS_WITH(plan_by_models(of(Operation::broadcast), map, {0, 1, 4, 9}), Contains("the map's 9"));
    CHECK_THROWS_WITH(plan_by_models(of(Operation::scan), map, hosts), Contains("goes by rank"));
    CHECK_THROWS_WITH(plan_by_models(of(Operation::reduce, false), map, hosts), Contains("order"));
    PlanRequest no_root = of(Operation::broadcast);
    no_root.root = 4;
    CHECK_THROWS_WITH(plan_by_models(no_root, map, hosts), Contains("no root 4"));
    Map unknown({"a", "b"}, {"tcp"}, {8}, "");
    CHECK_THROWS_WITH(plan_by_models({Operation::broadcast, 2, 0, 100, 8, true}, unknown, {0, 1}),
                      Contains("the models choose no plan: "));
}

} // namespace by_models_test
