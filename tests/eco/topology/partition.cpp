// SPDX-License-Identifier: BSD-3-Clause
// Figure 2 of the ECO paper, rule by rule, against a transcription of its text, and the
// levels above it.
#include "eco/topology/networks.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/processor_time.h"

#include "plexus/error.h"

#include <cmath>
#include <tuple>

namespace partition_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

constexpr double kNone = CostMatrix::kNotMeasured;

CostMatrix matrix_of(std::size_t hosts,
                     const std::vector<std::tuple<std::size_t, std::size_t, double>>& edges) {
    CostMatrix out(hosts);
    for (const auto& [a, b, cost] : edges) out.set_both(a, b, cost);
    return out;
}

/// Figure 2 as it is printed, with whole numbers for costs, and nothing clever.
Partition as_printed(const CostMatrix& costs) {
    const std::size_t hosts = costs.size();
    struct Each {
        double weight;
        std::size_t a, b;
    };
    std::vector<Each> edges;
    std::vector<double> min_edge(hosts, kNone);
    for (std::size_t a = 0; a < hosts; ++a)
        for (std::size_t b = 0; b < hosts; ++b) {
            if (a == b || costs(a, b) == kNone) continue;
            min_edge[a] = std::min(min_edge[a], costs(a, b));
            if (a < b) edges.push_back({costs(a, b), a, b});
        }
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Each& x, const Each& y) { return x.weight < y.weight; });
    std::vector<int> subnet(hosts, -1);
    std::vector<double> subnet_min_edge(hosts, kNone);
    int subnets = 0;
    for (const auto& [weight, a, b] : edges) {
        if (subnet[a] >= 0 && subnet[a] == subnet[b]) continue;
        if (5 * weight > 6 * min_edge[a] || 5 * weight > 6 * min_edge[b]) continue;
        if (subnet[a] >= 0 && 5 * weight > 6 * subnet_min_edge[a]) continue;
        if (subnet[b] >= 0 && 5 * weight > 6 * subnet_min_edge[b]) continue;
        const double least = std::min({weight, subnet_min_edge[a], subnet_min_edge[b]});
        const int old_a = subnet[a], old_b = subnet[b];
        for (std::size_t host = 0; host < hosts; ++host)
            if (host == a || host == b ||
                (subnet[host] >= 0 && (subnet[host] == old_a || subnet[host] == old_b))) {
                subnet[host] = subnets;
                subnet_min_edge[host] = least;
            }
        ++subnets;
    }
    Partition out;
    std::vector<bool> done(hosts);
    for (std::size_t host = 0; host < hosts; ++host) {
        if (done[host]) continue;
        Subnet mine;
        for (std::size_t other = host; other < hosts; ++other)
            if (other == host || (subnet[host] >= 0 && subnet[other] == subnet[host])) {
                mine.push_back(other);
                done[other] = true;
            }
        out.push_back(mine);
    }
    return out;
}

} // namespace

TEST_CASE("the poly-model paper's Table 2 gives its six clusters") {
    CHECK(partition(grid5000()) == planted(kGridSizes));
}

TEST_CASE("levels above the first merge Grenoble, then site after site by its least cost") {
    const auto levels = hierarchy(grid5000());
    REQUIRE(levels.size() == 5);
    CHECK(levels[0] == planted(kGridSizes));
    CHECK(levels[1] == planted({20, 19, 20, 19}));
    const auto sizes = [](const Partition& partition) {
        std::vector<std::size_t> out;
        for (const Subnet& each : partition) out.push_back(each.size());
        return out;
    };
    CHECK(sizes(levels[2]) == std::vector<std::size_t>{20, 38, 20}); // Grenoble and Sophia
    CHECK(sizes(levels[3]) == std::vector<std::size_t>{20, 58});
    CHECK(levels[4] == planted({78}));
}

TEST_CASE("a flat network is one subnet and has one level") {
    CHECK(hierarchy(clusters({50}, {{7}})) == std::vector<Partition>{planted({50})});
}

TEST_CASE("hosts that nothing connects are subnets of one") {
    CHECK(partition(CostMatrix(3)) == planted({1, 1, 1}));
    CHECK(hierarchy(CostMatrix(3)).size() == 1);
    CHECK(partition(CostMatrix(1)) == planted({1}));
    CHECK(partition(CostMatrix(0)).empty());
}

TEST_CASE("an edge exactly twenty percent dearer than a host's least joins, one above does not") {
    CHECK(partition(matrix_of(3, {{0, 1, 0.3}, {1, 2, 0.36}})) == planted({3}));
    CHECK(partition(matrix_of(3, {{0, 1, 0.3}, {1, 2, 0.360001}})) == planted({2, 1}));
}

TEST_CASE("an edge over the limit of one host is left out, and the next is looked at") {
    // 1-2 is too dear for host 1 alone; 2-3 comes later and is taken.
    CHECK(partition(matrix_of(4, {{0, 1, 10}, {1, 2, 13}, {2, 3, 14}})) == planted({2, 2}));
}

TEST_CASE("a subnet's least edge limits it, though the hosts at both ends would allow more") {
    // 3's and 2's least is 11.9 and 12; but the subnet that 2 is in began at 10: 12.1 is too much.
    const auto costs = matrix_of(5, {{0, 1, 10}, {1, 2, 11.9}, {2, 3, 12.1}, {3, 4, 12.0}});
    CHECK(partition(costs) == planted({3, 2}));
}

TEST_CASE("the limit of a subnet does not bind a host that is in none") {
    CHECK(partition(matrix_of(2, {{0, 1, 5}})) == planted({2}));
    CHECK(partition(matrix_of(3, {{0, 1, 5}, {1, 2, 6}, {0, 2, kNone}})) == planted({3}));
}

TEST_CASE("a pair without a measurement joins over the others of its subnet") {
    CostMatrix costs = clusters({6}, {{10}});
    costs.set_both(0, 5, kNone);
    CHECK(partition(costs) == planted({6}));
}

TEST_CASE("random networks with many equal costs are split as the printed text splits them") {
    Random random(1);
    for (int draw = 0; draw < 3000; ++draw) {
        CostMatrix costs(2 + random() % 12);
        for (std::size_t a = 0; a < costs.size(); ++a)
            for (std::size_t b = a + 1; b < costs.size(); ++b)
                costs.set_both(a, b, random() % 8 == 0 ? kNone : static_cast<double>(20 + random() % 20));
        if (partition(costs) != as_printed(costs)) FAIL("draw " << draw);
    }
}

TEST_CASE("relabelling the hosts or scaling all costs changes nothing") {
    Random random(2);
    for (int draw = 0; draw < 1000; ++draw) {
        CostMatrix costs(2 + random() % 30);
        for (std::size_t a = 0; a < costs.size(); ++a)
            for (std::size_t b = a + 1; b < costs.size(); ++b)
                // Twentieths, so that many are exactly 20 % apart.
                costs.set_both(a, b,
                               random() % 10 == 0 ? kNone : static_cast<double>(100 + random() % 80) / 20);
        const auto levels = hierarchy(costs);
        const auto label = shuffled(costs.size(), random);
        const auto relabelled_levels = hierarchy(relabelled(costs, label));
        const double factor = std::exp(uniform(random, -30, 30));
        const auto scaled_levels = hierarchy(disturbed(costs, [&] { return factor; }));
        REQUIRE(levels.size() == relabelled_levels.size());
        for (std::size_t level = 0; level < levels.size(); ++level)
            if (relabelled(levels[level], label) != relabelled_levels[level])
                FAIL("relabelled, draw " << draw);
        if (scaled_levels != levels) FAIL("scaled by " << factor << ", draw " << draw);
    }
}

TEST_CASE("each level joins whole subnets of the one below") {
    Random random(3);
    for (int draw = 0; draw < 200; ++draw) {
        const auto levels = hierarchy(planted_subnets(random).costs);
        for (std::size_t level = 1; level < levels.size(); ++level) {
            CHECK(levels[level].size() < levels[level - 1].size());
            std::vector<std::size_t> place(1000, 1000);
            for (std::size_t at = 0; at < levels[level].size(); ++at)
                for (const std::size_t host : levels[level][at]) place[host] = at;
            for (const Subnet& subnet : levels[level - 1])
                for (const std::size_t host : subnet)
                    if (place[host] != place[subnet.front()]) FAIL("draw " << draw);
        }
    }
}

TEST_CASE("a matrix that differs by direction is refused") {
    CostMatrix costs(2);
    costs.set(0, 1, 1);
    CHECK_THROWS_AS(partition(costs), plexus::Error);
    costs.set(1, 0, 2);
    CHECK_THROWS_AS(partition(costs), plexus::Error);
}

TEST_CASE("a thousand hosts are split within a second of processor time") {
    Random random(4);
    const auto costs = disturbed(clusters(std::vector<std::size_t>(50, 20),
                                          std::vector<std::vector<double>>(50, std::vector<double>(50, 500))),
                                 [&] { return uniform(random, 0.9, 1.1); });
    const double begin = processor_seconds();
    const auto subnets = partition(costs);
    const double took = processor_seconds() - begin;
    CHECK(subnets.size() >= 1);
    CHECK(took < 1 * kPatience);
}

} // namespace partition_test
