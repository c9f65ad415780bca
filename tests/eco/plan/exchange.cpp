// SPDX-License-Identifier: BSD-3-Clause
// An all_to_all between clusters by all of their members or by some.
#include "plan/exchange.h"
#include "eco/topology/networks.h"
#include "support/catch.h"

#include "plexus/eco/levels.h"
#include "plexus/eco/network.h"
#include "plexus/error.h"

#include <limits>
#include <map>
#include <set>
#include <utility>

namespace exchange_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

/// 50 us inside, 700 us between, and a byte between takes ten times as long.
Network network_of(const std::vector<std::size_t>& sizes) {
    std::vector<std::vector<double>> cost(sizes.size(), std::vector<double>(sizes.size(), 700));
    for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) cost[cluster][cluster] = 50;
    const CostMatrix costs = clusters(sizes, cost);
    std::vector<std::string> hosts;
    std::vector<std::size_t> host_of;
    for (std::size_t host = 0; host < costs.size(); ++host) {
        hosts.push_back("h" + std::to_string(host));
        host_of.push_back(host);
    }
    Map map(hosts, {}, {0, 1'000'000}, "");
    for (std::size_t a = 0; a < costs.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            const double none = costs(a, b), many = none + (none > 100 ? 10'000 : 1000);
            map.set_both(0, a, b, {none, none, none, none, none, 1, Cost::kNoMethod});
            map.set_both(1, a, b, {many, many, many, many, many, 1, Cost::kNoMethod});
        }
    return Network(map, host_of);
}

double mean_us(const Plan& plan, const Network& network) {
    return (estimate_us(plan, network, Connections::idle) + estimate_us(plan, network, Connections::open)) /
           2;
}

} // namespace

TEST_CASE("exchanges are right for clusters of any sizes and any number of exchangers") {
    Random random(51);
    for (int draw = 0; draw < 40; ++draw) {
        const auto members = static_cast<Rank>(1 + random() % 30);
        Partition clusters(1 + random() % 5);
        for (Rank member = 0; member < members; ++member)
            clusters[random() % clusters.size()].push_back(members - 1 - member);
        std::erase_if(clusters, [](const Subnet& each) { return each.empty(); });
        const PlanRequest request{Operation::all_to_all, members, 0, random() % 50, 4, true};
        for (const std::size_t exchangers : {1, 2, 3, 7, 100})
            for (const bool in_rounds : {false, true}) {
                const Proof proof = prove(plan_exchange(request, clusters, {exchangers, in_rounds}));
                INFO(members << " members in " << clusters.size() << " clusters by " << exchangers << ": "
                             << proof.broken);
                CHECK(proof);
            }
    }
}

TEST_CASE("each exchanger sends each other cluster one message, and all of a cluster share the work") {
    const Partition clusters{{0, 3, 6, 9, 12}, {1, 4}, {2, 5, 7, 8, 10, 11}};
    std::map<std::size_t, std::size_t> cluster_of;
    for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster)
        for (const std::size_t member : clusters[cluster]) cluster_of[member] = cluster;
    for (const std::size_t exchangers : {1, 2, 4, 6}) {
        INFO(exchangers << " exchangers");
        const Plan plan =
            plan_exchange({Operation::all_to_all, 13, 0, 10, 1, true}, clusters, {exchangers, false});
        std::set<Rank> senders;
        std::set<std::pair<Rank, std::size_t>> ways; // from a member to a cluster
        std::size_t between = 0;
        std::uint64_t bytes = 0;
        for (const Message& each : plan.messages) {
            if (cluster_of[each.from] == cluster_of[each.to]) continue;
            ++between;
            bytes += plan.bytes_of(each);
            senders.insert(each.from);
            ways.insert({each.from, cluster_of[each.to]});
        }
        std::size_t due = 0;
        for (const Subnet& each : clusters) due += std::min(exchangers, each.size());
        CHECK(senders.size() == due);
        CHECK(between == 2 * due);
        CHECK(ways.size() == between);
        CHECK(bytes == 10 * (13 * 13 - 5 * 5 - 2 * 2 - 6 * 6)); // each pair's block, once
    }
}

TEST_CASE("who exchanges, and in what order, is chosen by the time that the estimate expects") {
    for (const auto& sizes : std::vector<std::vector<std::size_t>>{{8, 8, 8}, {12, 3, 7, 5}}) {
        const Network network = network_of(sizes);
        REQUIRE(network.levels().size() == 2);
        for (const std::uint64_t bytes : {8, 512, 4096, 65'536}) {
            INFO(sizes.size() << " clusters, " << bytes << " B");
            const PlanRequest request{Operation::all_to_all, network.size(), 0, bytes, 1, true};
            const double chosen = mean_us(plan_eco(request, network), network);
            double by_exchange = std::numeric_limits<double>::infinity();
            for (const std::size_t exchangers : {1, 2, 4, 8})
                for (const bool in_rounds : {false, true})
                    by_exchange =
                        std::min(by_exchange,
                                 mean_us(plan_exchange(request, network.levels()[0], {exchangers, in_rounds}),
                                         network));
            double by_others = std::numeric_limits<double>::infinity();
            for (const Pattern outer : {Pattern::binomial, Pattern::bruck, Pattern::pairwise}) {
                by_others = std::min(by_others, mean_us(plan(request, {outer}), network));
                for (const Pattern inner : {Pattern::binomial, Pattern::bruck, Pattern::pairwise})
                    by_others = std::min(
                        by_others,
                        mean_us(plan_by_level(request, network.levels(), {{outer}, {inner}}), network));
            }
            CHECK(chosen <= 1.001 * by_exchange);
            CHECK(chosen <= 1.001 * by_others);
            if (bytes == 4096 && sizes.size() == 3) CHECK(chosen < 0.8 * by_others);
        }
    }
}

TEST_CASE("exchangers are tried by a factor, up to all members of the largest cluster or the most allowed") {
    using Counts = std::vector<std::size_t>;
    const Partition clusters{{0, 1, 2, 3, 4, 5}, {6, 7}};
    CHECK(exchanger_counts(clusters, 1, 2, SIZE_MAX) == Counts{1, 2, 4, 6});
    CHECK(exchanger_counts(clusters, 4, 4, 16) == Counts{4, 6});
    CHECK(exchanger_counts(clusters, 4, 4, 3) == Counts{3});
    CHECK(exchanger_counts({{0}, {1}}, 1, 2, SIZE_MAX) == Counts{1});
}

TEST_CASE("only an all_to_all is exchanged, and by somebody") {
    const PlanRequest request{Operation::all_to_all, 3, 0, 10, 1, true};
    CHECK_THROWS_AS(plan_exchange(request, {{0, 1}, {2}}, {0, false}), plexus::Error);
    CHECK_THROWS_AS(plan_exchange({Operation::all_gather, 3, 0, 10, 1, true}, {{0, 1}, {2}}, {1, false}),
                    plexus::Error);
}

} // namespace exchange_test
