// SPDX-License-Identifier: BSD-3-Clause
// The poly-model of a map: clusters, links and the choice, on the poly-model paper's network and on maps that
// lack something.
#include "support/catch.h"

#include "eco/model/samples.h"
#include "eco/model/words.h"
#include "eco/topology/networks.h"
#include "plexus/eco/poly_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace poly_model_test {

using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

/// Hosts of `clusters` one after another; `us(size, from cluster, to cluster)`, nothing below 0.
Map map_of(const std::vector<std::size_t>& clusters, const std::vector<std::uint64_t>& sizes,
           const std::function<double(std::uint64_t, std::size_t, std::size_t)>& us) {
    std::vector<std::string> hosts;
    std::vector<std::size_t> cluster_of;
    for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster)
        for (std::size_t host = 0; host < clusters[cluster]; ++host) {
            hosts.push_back(std::string(1, static_cast<char>('a' + cluster)) + std::to_string(host));
            cluster_of.push_back(cluster);
        }
    Map out(hosts, {"tcp"}, sizes, "");
    for (std::size_t size = 0; size < sizes.size(); ++size)
        for (std::size_t from = 0; from < hosts.size(); ++from)
            for (std::size_t to = 0; to < hosts.size(); ++to) {
                const double cost = us(sizes[size], cluster_of[from], cluster_of[to]);
                if (from != to && cost >= 0) out.set(size, from, to, cost_of(std::vector<double>{cost}, 0));
            }
    return out;
}

/// 20 us and 0.01 us a byte inside, 1,000 us and 0.1 us a byte between.
double two_levels_us(std::uint64_t bytes, std::size_t from, std::size_t to) {
    return from == to ? 20 + 0.01 * static_cast<double>(bytes) : 1000 + 0.1 * static_cast<double>(bytes);
}

const std::vector<std::uint64_t> kSizes = doubled_sizes(8, 1 << 20);

/// Table 2 at 1 Gb/s: 10 us and 8 ns a byte on top of the latencies. Between sites a byte takes `wide_us`.
Map grid5000_map(double wide_us = 0.008) {
    const CostMatrix latencies = grid5000();
    std::vector<std::size_t> first{0};
    for (const std::size_t size : kGridSizes) first.push_back(first.back() + size);
    return map_of(kGridSizes, kSizes, [&](std::uint64_t bytes, std::size_t from, std::size_t to) {
        const double latency = latencies(first[from], from == to ? first[from] + 1 : first[to]);
        return latency + 10 + (latency > 1000 ? wide_us : 0.008) * static_cast<double>(bytes);
    });
}

/// The clusters of Grid'5000 from which no schedule completes before flat, which is one of all.
std::vector<std::size_t> roots_with_flat(const Map& map, std::uint64_t bytes) {
    PolyRequest asked;
    asked.bytes = bytes;
    InterclusterInstance instance = predict(map, asked).between; // each root is its cluster's first host
    std::vector<std::size_t> out;
    for (instance.root = 0; instance.root < instance.inside_s.size(); ++instance.root) {
        const auto all = schedules(instance);
        if (earliest(all).rule == ScheduleRule::flat) out.push_back(instance.root);
    }
    return out;
}

PolyRequest request(std::uint64_t bytes, std::size_t root = 0) {
    PolyRequest out;
    out.bytes = bytes;
    out.root = root;
    return out;
}

bool has_remark(const PolyPrediction& made, const std::string& part) {
    for (const std::string& each : made.remarks)
        if (each.find(part) != std::string::npos) return true;
    return false;
}

} // namespace

TEST_CASE("Grid'5000: six clusters, binomial inside at 8 kB, pipeline at 512 kB, and not flat from Orsay") {
    const Map map = grid5000_map();
    for (const auto& [bytes, pattern] :
         {std::pair{std::uint64_t{8192}, Pattern::binomial}, {std::uint64_t{524288}, Pattern::chain}}) {
        const PolyPrediction made = predict(map, request(bytes));
        REQUIRE(made.missing.empty());
        REQUIRE(made.clusters.size() == 6);
        for (const ClusterPrediction& each : made.clusters) {
            INFO(bytes << " B in the cluster of " << map.hosts()[each.coordinator]);
            if (each.hosts.size() == 1) {
                CHECK(!each.model);
                CHECK(each.patterns.empty());
                CHECK(each.fastest.time_s == 0);
                continue;
            }
            REQUIRE(each.model);
            CHECK(each.models[*each.model].error < 1e-6);
            CHECK(to_string(each.fastest.options.pattern) == to_string(pattern));
        }
        REQUIRE(made.schedules.size() == std::size(kScheduleRules));
        const InterclusterSchedule& chosen = made.schedules[made.chosen];
        for (const InterclusterSchedule& each : made.schedules) CHECK(chosen.after_s <= each.after_s);
        CHECK(made.schedules.front().rule == ScheduleRule::flat);
        CHECK(chosen.after_s < made.schedules.front().after_s);
        CHECK(!has_remark(made, "beyond"));
        CHECK(has_remark(made, "holds no gaps") == (pattern == Pattern::chain));
    }
}

TEST_CASE("Grid'5000: flat is the optimum from Sophia up to 160 KiB, and never over a WAN of 100 Mb/s") {
    // With 1 Gb/s between sites, a coordinator that sends on keeps its cluster waiting for as long as one
    // that serves all others: the WAN is slower by its latency alone.
    using Roots = std::vector<std::size_t>;
    const Map same_rate = grid5000_map();
    constexpr std::uint64_t kKiB = 1024;
    CHECK(roots_with_flat(same_rate, 64 * kKiB) == Roots{1, 2, 3, 5}); // Grenoble and Sophia
    for (const std::uint64_t kib : {96, 128, 160}) CHECK(roots_with_flat(same_rate, kib * kKiB) == Roots{5});
    for (const std::uint64_t kib : {192, 256, 1024}) CHECK(roots_with_flat(same_rate, kib * kKiB) == Roots{});
    const Map slow_wan = grid5000_map(0.08);
    for (const std::uint64_t kib : {64, 128, 256, 1024})
        CHECK(roots_with_flat(slow_wan, kib * kKiB) == Roots{});
}

TEST_CASE("the instance between clusters has the links' parameters and the times inside") {
    const Map map = map_of({3, 2, 1}, kSizes, two_levels_us);
    const PolyPrediction made = predict(map, request(1000, 4));
    REQUIRE(made.missing.empty());
    CHECK(made.between.root == 1);
    CHECK(made.clusters[0].coordinator == 0);
    CHECK(made.clusters[1].coordinator == 4);
    for (const std::size_t from : {0, 1, 2})
        for (const std::size_t to : {0, 1, 2}) {
            if (from == to) continue;
            CHECK(made.between.latency_s[from][to] == Approx(1e-3));
            CHECK(made.between.spacing_s[from][to] == Approx(1e-4));
        }
    CHECK(made.between.inside_s[0] == Approx(40e-6)); // one after the other: 10, 10 and 20 us
    CHECK(made.between.inside_s[1] == Approx(30e-6));
    CHECK(made.between.inside_s[2] == 0);
    CHECK(made.schedules[made.chosen].after_s == Approx(1.2e-3)); // a first, then c
}

TEST_CASE("a link whose sender is busy for longer than its message takes has a schedule") {
    Map map = map_of({3, 2, 1}, kSizes, two_levels_us);
    AcquiredModel slow;
    slow.from = 0;
    slow.to = 3;
    slow.model = "loggp";
    slow.parameters = {{"latency_s", 1e-3}, {"overhead_s", 0}, {"gap_s", 5e-3}, {"gap_s_per_byte", 1e-7}};
    map.set_acquired({slow});
    const PolyPrediction made = predict(map, request(1000));
    REQUIRE(made.missing.empty());
    CHECK(made.between.latency_s[0][1] < 0);
    CHECK(made.between.spacing_s[0][1] == Approx(5.1e-3).epsilon(1e-3));
    CHECK(made.between.latency_s[0][1] + made.between.spacing_s[0][1] == Approx(1.1e-3).epsilon(1e-3));
    CHECK(made.schedules[made.chosen].sends.front() == ClusterSend{0, 2}); // the other one first
}

TEST_CASE("each direction of a link counts as measured, and a reduction has them backwards") {
    const Map map = map_of({2, 2}, kSizes, [](std::uint64_t bytes, std::size_t from, std::size_t to) {
        return two_levels_us(bytes, from, to) * (from < to ? 3 : 1);
    });
    PolyRequest asked = request(1000);
    const PolyPrediction down = predict(map, asked);
    CHECK(has_remark(down, "differs by direction"));
    CHECK(down.between.latency_s[0][1] == Approx(3e-3));
    CHECK(down.between.latency_s[1][0] == Approx(1e-3));
    asked.operation = Operation::reduce;
    const PolyPrediction up = predict(map, asked);
    CHECK(up.between.latency_s[0][1] == Approx(1e-3));
    CHECK(up.between.spacing_s[1][0] == Approx(3e-4));
    asked.symmetry = Symmetry::refuse;
    CHECK_THROWS_AS(predict(map, asked), plexus::Error);
}

TEST_CASE("sizes 0 and 1, one host, clusters of one host and every operation have defined results") {
    const Map map = map_of({3, 1}, kSizes, two_levels_us);
    const Map one = map_of({1}, {8}, two_levels_us);
    const Map flat = map_of({5}, kSizes, two_levels_us);
    for (const std::uint64_t bytes : {0, 1}) {
        const PolyPrediction made = predict(map, request(bytes, 3));
        CHECK(made.missing.empty());
        CHECK(std::isfinite(made.schedules[made.chosen].after_s));
        CHECK(made.schedules[made.chosen].after_s > 1e-3);
        const PolyPrediction alone = predict(one, request(bytes));
        CHECK(alone.missing.empty());
        CHECK(alone.schedules[alone.chosen].after_s == 0);
    }
    for (const Operation operation : kOperations) {
        PolyRequest asked = request(1000, 2);
        asked.operation = operation;
        INFO(to_string(operation));
        const PolyPrediction inside = predict(flat, asked);
        CHECK(inside.missing.empty());
        CHECK(inside.schedules[inside.chosen].after_s == inside.clusters[0].fastest.time_s);
        CHECK(inside.clusters[0].fastest.time_s > 0);
        const bool goes_between = operation == Operation::broadcast || operation == Operation::reduce;
        const bool goes_by_rank = operation == Operation::scan || operation == Operation::exclusive_scan;
        const PolyPrediction made = predict(map, asked);
        CHECK(made.missing.empty() != goes_by_rank);
        CHECK(made.schedules.empty() != goes_between);
        CHECK(made.patterns.empty() == (goes_between || goes_by_rank));
        CHECK(made.clusters[0].model);
    }
    PolyRequest barrier = request(1000);
    barrier.operation = Operation::barrier;
    const double with_size = predict(flat, barrier).clusters[0].fastest.time_s;
    barrier.bytes = 1 << 30;
    CHECK(!has_remark(predict(flat, barrier), "beyond"));
    barrier.bytes = 0;
    CHECK(predict(flat, barrier).clusters[0].fastest.time_s == with_size);
    CHECK(words_of([&] { predict(flat, request(8, 5)); }).find("root 5 is no host") != std::string::npos);
}

TEST_CASE("the cost that is asked for is the one that counts, and the completion") {
    Map map({"a", "b", "c"}, {}, {8, 1024, 65536}, "");
    for (std::size_t size = 0; size < 3; ++size)
        for (std::size_t from = 0; from < 3; ++from)
            for (std::size_t to = 0; to < 3; ++to) {
                const double us = 10 + 0.01 * static_cast<double>(map.sizes_bytes()[size]);
                if (from != to)
                    map.set(size, from, to, {us, 2 * us, 3 * us, 4 * us, 5 * us, 9, Cost::kNoMethod});
            }
    PolyRequest asked = request(1024);
    const double least = predict(map, asked).clusters[0].fastest.time_s;
    asked.statistic = Statistic::median;
    CHECK(predict(map, asked).clusters[0].fastest.time_s == Approx(3 * least));
    // Inside the root's cluster 3.5 ms, between clusters 2 ms of which the sender is busy for 1: to send
    // twice delays what is inside, unless both go on together.
    const Map two = map_of({2, 2, 2}, kSizes, [](std::uint64_t bytes, std::size_t from, std::size_t to) {
        const auto size = static_cast<double>(bytes);
        if (from == to) return 20 + (from == 0 ? 0.348 : 0.01) * size;
        return from > 0 && to > 0 ? 900 + 0.11 * size : 1000 + 0.1 * size;
    });
    PolyRequest over = request(10000);
    const PolyPrediction one_by_one = predict(two, over);
    CHECK(one_by_one.schedules[one_by_one.chosen].after_s == Approx(4.5e-3));
    over.completion = Completion::overlap;
    CHECK(predict(two, over).schedules[predict(two, over).chosen].overlap_s == Approx(3.5e-3));
    const PolyPrediction made = predict(two, over);
    for (const InterclusterSchedule& each : made.schedules)
        CHECK(made.schedules[made.chosen].overlap_s <= each.overlap_s);
}

TEST_CASE("what a map does not hold is said, and links that were not measured count as others do") {
    const Map plain = map_of({3}, {0}, two_levels_us);
    const PolyPrediction single = predict(plain, request(8));
    CHECK(single.missing.find("no model describes the cluster of a0: hockney: 1 size was measured") !=
          std::string::npos);
    CHECK(single.schedules.empty());
    CHECK(has_remark(single, "up to 0 B"));

    const Map apart = map_of({2, 2}, kSizes, [](std::uint64_t bytes, std::size_t from, std::size_t to) {
        return from == to ? two_levels_us(bytes, from, to) : -1;
    });
    CHECK(predict(apart, request(8)).missing == "between the clusters of a0 and b0 nothing was measured");

    const auto without = [](const std::function<bool(std::uint64_t, std::size_t, std::size_t)>& lacks) {
        return map_of({2, 2, 2}, kSizes, [&](std::uint64_t bytes, std::size_t from, std::size_t to) {
            const double slow = from + to == 3 ? 5 : 1;
            return lacks(bytes, from, to) ? -1 : two_levels_us(bytes, from, to) * slow;
        });
    };
    const PolyPrediction one_way =
        predict(without([](std::uint64_t, std::size_t from, std::size_t to) { return from == 0 && to == 1; }),
                request(8));
    CHECK(one_way.missing.empty());
    CHECK(one_way.between.latency_s[0][1] == one_way.between.latency_s[1][0]);
    CHECK(!has_remark(one_way, "slowest"));
    const PolyPrediction none = predict(
        without([](std::uint64_t, std::size_t from, std::size_t to) { return from + to == 1; }), request(8));
    CHECK(none.missing.empty());
    CHECK(has_remark(none, "Between the clusters of a0 and b0 nothing was measured"));
    CHECK(none.between.latency_s[0][1] == Approx(5e-3));
    CHECK(none.between.latency_s[1][0] == Approx(5e-3));
    const PolyPrediction thin = predict(without([](std::uint64_t bytes, std::size_t from, std::size_t to) {
                                            return from + to == 1 && bytes > 8;
                                        }),
                                        request(8));
    CHECK(thin.missing.find("no model describes the link between the clusters of a0 and b0") !=
          std::string::npos);
    CHECK(thin.schedules.empty());
    CHECK(has_remark(predict(without([](auto...) { return false; }), request(1 << 21)), "up to 1048576 B"));
}

TEST_CASE("operations without schedules have patterns between clusters, timed by the plans that they give") {
    // A message of 1,000 B keeps its sender, and who takes it in, for 0.1 ms between clusters, and arrives 1
    // ms later.
    const auto predicted = [](const std::vector<std::size_t>& clusters, Operation operation,
                              std::size_t root = 0) {
        PolyRequest asked = request(1000, root);
        asked.operation = operation;
        return predict(map_of(clusters, kSizes, two_levels_us), asked);
    };
    const auto time_by = [](const PolyPrediction& made, Pattern pattern) {
        for (const PatternTime& each : made.patterns)
            if (each.options.pattern == pattern) return each.time_s;
        return -1.0;
    };
    // Two pairs and the root; inside a pair 1,000 B take 10 us and arrive 20 us later.
    const PolyPrediction gather = predicted({2, 2, 1}, Operation::gather, 4);
    REQUIRE(gather.clusters.size() == 3);
    // Both pairs' parts are there at 0.03 + 1.2 ms, and those of the second are taken in behind the first's.
    CHECK(time_by(gather, Pattern::star) == Approx(1.43e-3));
    // From pair to pair, and four parts from there.
    CHECK(time_by(gather, Pattern::chain) == Approx(1.23e-3 + 1.4e-3));
    CHECK(gather.fastest.time_s == Approx(1.43e-3));
    CHECK(time_by(gather, Pattern::ring) < 0); // it makes no gather
    CHECK(time_by(predicted({2, 2, 1}, Operation::scatter, 4), Pattern::star) == Approx(1.43e-3));
    // Inside, across and inside.
    CHECK(predicted({2, 2}, Operation::barrier).fastest.time_s == Approx(0.02e-3 + 1e-3 + 0.02e-3));
    const PolyPrediction all_reduce = predicted({2, 1}, Operation::all_reduce);
    CHECK(all_reduce.fastest.options.pattern == Pattern::butterfly);
    CHECK(all_reduce.fastest.options.halve_from_bytes > 0); // whole vectors: once over the long way
    CHECK(all_reduce.fastest.time_s > 1.1e-3);
    CHECK(all_reduce.fastest.time_s < 1.25e-3);
    CHECK(time_by(all_reduce, Pattern::butterfly) > 2.1e-3); // the first: halves, there and back

    // Three hosts and the root: they collect inside, then one message has the parts of all.
    const PolyPrediction joined = predicted({3, 1}, Operation::gather, 3);
    REQUIRE(joined.missing.empty());
    CHECK(joined.clusters[0].fastest.time_s == Approx(40e-6));
    CHECK(joined.fastest.time_s == Approx(40e-6 + 1e-3 + 3 * 0.1e-3));
    CHECK(joined.schedules.empty());

    // A link that was measured one way counts so both ways, for messages of any size.
    const Map one_way = map_of({2, 2}, kSizes, [](std::uint64_t bytes, std::size_t from, std::size_t to) {
        return from <= to ? two_levels_us(bytes, from, to) : -1;
    });
    PolyRequest asked = request(1000);
    asked.operation = Operation::all_gather;
    CHECK(predict(one_way, asked).fastest.time_s == predicted({2, 2}, Operation::all_gather).fastest.time_s);
    CHECK(predict(one_way, asked).fastest.time_s > 1.2e-3);

    const PolyPrediction scan = predicted({3, 2}, Operation::scan);
    CHECK(scan.missing == "a scan goes by rank, not by clusters");
    PolyRequest exchange = request(8);
    exchange.operation = Operation::all_to_all;
    CHECK(predict(map_of({200, 57}, {8, 1024}, two_levels_us), exchange).missing ==
          "an all_to_all between clusters is predicted for up to 256 hosts");
    CHECK(predict(map_of({20, 17}, {8, 1024}, two_levels_us), exchange).missing.empty());
}

TEST_CASE("an all_to_all between clusters may go without coordinators, by as many members as ends first") {
    const auto predicted = [](const std::vector<std::size_t>& clusters, std::uint64_t bytes) {
        PolyRequest asked = request(bytes);
        asked.operation = Operation::all_to_all;
        return predict(map_of(clusters, kSizes, two_levels_us), asked);
    };
    // Both of a pair send what they have for the other pair to one there (1.2 ms), who hands on a half.
    const PolyPrediction pairs = predicted({2, 2}, 1000);
    REQUIRE(pairs.exchanges.size() == 2); // by one, and by both; in rounds would be the same
    CHECK(pairs.exchanges[1].options.exchangers == 2);
    CHECK(pairs.exchanges[1].time_s == Approx(1.23e-3));
    REQUIRE(pairs.exchange);
    CHECK(pairs.exchange->options.exchangers == 2);
    CHECK(pairs.exchange->time_s < pairs.fastest.time_s);
    const Plan plan = to_plan(pairs, {Operation::all_to_all, 4, 0, 1000, 1, true});
    CHECK(prove(plan));
    const auto crosses = [](const Message& each) { return (each.from < 2) != (each.to < 2); };
    CHECK(std::count_if(plan.messages.begin(), plan.messages.end(), crosses) == 4);

    // Three clusters, also in rounds; of the smallest all exchange.
    const PolyPrediction three = predicted({5, 2, 3}, 1000);
    std::vector<std::pair<std::size_t, bool>> tried;
    for (const ExchangeTime& each : three.exchanges) {
        CHECK(std::isfinite(each.time_s));
        tried.emplace_back(each.options.exchangers, each.options.in_rounds);
    }
    CHECK(tried ==
          std::vector<std::pair<std::size_t, bool>>{
              {1, false}, {1, true}, {2, false}, {2, true}, {4, false}, {4, true}, {5, false}, {5, true}});
    CHECK(prove(to_plan(three, {Operation::all_to_all, 10, 0, 1000, 1, true})));

    // Inside one cluster, and of other operations, there is none.
    CHECK(predicted({4}, 1000).exchanges.empty());
    PolyRequest gather = request(1000);
    gather.operation = Operation::gather;
    CHECK(predict(map_of({2, 2}, kSizes, two_levels_us), gather).exchanges.empty());
}

TEST_CASE("a pattern between clusters is a plan that can be carried out, and the fastest of all") {
    const Map map = grid5000_map();
    for (const Operation operation :
         {Operation::scatter, Operation::gather, Operation::all_gather, Operation::all_reduce,
          Operation::all_to_all, Operation::barrier, Operation::reduce_scatter})
        for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{64} << 10}) {
            INFO(to_string(operation) << " of " << bytes << " B");
            PolyRequest asked = request(bytes, 35);
            asked.operation = operation;
            const PolyPrediction made = predict(map, asked);
            REQUIRE(made.missing.empty());
            for (const PatternTime& each : made.patterns) {
                CHECK(std::isfinite(each.time_s));
                CHECK(made.fastest.time_s <= each.time_s * (1 + 1e-9));
            }
            const Plan plan = to_plan(made, {operation, 78, 35, bytes, 1, true});
            CHECK(prove(plan));
            // No message takes less than the way to the other sites.
            CHECK(made.fastest.time_s > 2e-3);
        }
}

TEST_CASE("what the models choose is a plan that can be carried out") {
    const Map map = grid5000_map();
    for (const Operation operation : {Operation::broadcast, Operation::reduce})
        for (const std::uint64_t bytes : {8u << 10, 512u << 10})
            for (const std::size_t root : {0, 35, 77}) {
                PolyRequest asked = request(bytes, root);
                asked.operation = operation;
                const PolyPrediction made = predict(map, asked);
                REQUIRE(made.missing.empty());
                const Plan plan = to_plan(made, {operation, 78, static_cast<Rank>(root), bytes, 1, true});
                CHECK(prove(plan));
                // Between clusters the messages are those of the schedule, one for each part.
                std::vector<std::size_t> cluster_of(78);
                for (std::size_t at = 0; at < made.clusters.size(); ++at)
                    for (const std::size_t host : made.clusters[at].hosts) cluster_of[host] = at;
                std::set<std::pair<std::size_t, std::size_t>> between;
                for (const Message& each : plan.messages) {
                    const std::size_t from = cluster_of[operation == Operation::reduce ? each.to : each.from];
                    const std::size_t to = cluster_of[operation == Operation::reduce ? each.from : each.to];
                    if (from != to) between.emplace(from, to);
                }
                std::set<std::pair<std::size_t, std::size_t>> wanted;
                for (const ClusterSend& each : made.schedules[made.chosen].sends)
                    wanted.emplace(each.from, each.to);
                CHECK(between == wanted);
            }
    // One cluster: its pattern alone, for any operation.
    const Map one = map_of({7}, kSizes, two_levels_us);
    PolyRequest all_gather = request(1000);
    all_gather.operation = Operation::all_gather;
    const PolyPrediction inside = predict(one, all_gather);
    CHECK(to_plan(inside, {Operation::all_gather, 7, 0, 1000, 1, true}) ==
          plan({Operation::all_gather, 7, 0, 1000, 1, true}, inside.clusters[0].fastest.options));
}

TEST_CASE("a prediction gives a plan of its own operation, root and hosts alone") {
    const PolyPrediction made = predict(map_of({3, 2}, kSizes, two_levels_us), request(100, 1));
    CHECK(prove(to_plan(made, {Operation::broadcast, 5, 1, 100, 1, true})));
    CHECK_THROWS_WITH(to_plan(made, {Operation::reduce, 5, 1, 100, 1, true}), Contains("for a broadcast"));
    CHECK_THROWS_WITH(to_plan(made, {Operation::broadcast, 5, 0, 100, 1, true}), Contains("root 1"));
    CHECK_THROWS_WITH(to_plan(made, {Operation::broadcast, 6, 1, 100, 1, true}), Contains("5 hosts"));
    PolyRequest reduce = request(100);
    reduce.operation = Operation::reduce;
    CHECK_THROWS_WITH(to_plan(predict(map_of({3, 2}, kSizes, two_levels_us), reduce),
                              {Operation::reduce, 5, 0, 100, 1, false}),
                      Contains("order"));
    for (const Operation operation : kOperations) { // one cluster has a plan of each
        PolyRequest any = request(1000);
        any.operation = operation;
        CHECK(prove(
            to_plan(predict(map_of({4}, kSizes, two_levels_us), any), {operation, 4, 0, 1000, 1, true})));
    }
    PolyRequest scan = request(100);
    scan.operation = Operation::scan;
    const PolyPrediction none = predict(map_of({3, 2}, kSizes, two_levels_us), scan);
    CHECK_THROWS_WITH(to_plan(none, {Operation::scan, 5, 0, 100, 1, true}), Contains("goes by rank"));
}

TEST_CASE("a plan by a rule sends between clusters what the rule says") {
    const Map map = grid5000_map();
    std::vector<std::size_t> host_of(78);
    std::iota(host_of.begin(), host_of.end(), std::size_t{0});
    const Network network(map, host_of);
    const Partition clusters = network.levels().front();
    REQUIRE(clusters.size() == 6);
    const auto cluster_of = [&](Rank member) {
        for (std::size_t at = 0; at < clusters.size(); ++at)
            if (std::find(clusters[at].begin(), clusters[at].end(), std::size_t{member}) !=
                clusters[at].end())
                return at;
        return clusters.size();
    };
    for (const Operation operation : {Operation::broadcast, Operation::reduce})
        for (const ScheduleRule rule : kScheduleRules)
            for (const Pattern inside : {Pattern::binomial, Pattern::chain, Pattern::butterfly}) {
                const Plan plan = plan_by_rule({operation, 78, 40, 1000, 8, true}, network, rule, {{inside}});
                CHECK(prove(plan));
                std::set<std::pair<std::size_t, std::size_t>> between;
                for (const Message& each : plan.messages)
                    if (cluster_of(each.from) != cluster_of(each.to)) {
                        const bool up = operation == Operation::reduce;
                        between.emplace(cluster_of(up ? each.to : each.from),
                                        cluster_of(up ? each.from : each.to));
                    }
                CHECK(between.size() == 5);
                if (rule != ScheduleRule::flat) continue;
                for (const auto& [from, to] : between) CHECK(from == cluster_of(40));
            }
    // Large messages keep a sender busy: others help.
    const Plan large = plan_by_rule({Operation::broadcast, 78, 40, 1 << 20, 1, true}, network,
                                    ScheduleRule::optimal, {{Pattern::star}});
    CHECK(std::any_of(large.messages.begin(), large.messages.end(), [&](const Message& each) {
        return cluster_of(each.from) != cluster_of(40) && cluster_of(each.from) != cluster_of(each.to);
    }));
    // Two members on each host: hosts are inside clusters.
    std::vector<std::size_t> twice;
    for (std::size_t member = 0; member < 156; ++member) twice.push_back(member / 2);
    const Plan plan = plan_by_rule({Operation::broadcast, 156, 3, 10, 8, true}, Network(map, twice),
                                   ScheduleRule::ecef, {{Pattern::binomial}, {Pattern::star}});
    CHECK(prove(plan));
    CHECK(plan.messages.size() == 155);
}

TEST_CASE("a plan by a rule is refused where there is none") {
    const Network network(map_of({3, 2}, kSizes, two_levels_us), {0, 1, 2, 3, 4});
    const std::vector<AlgorithmOptions> star{{Pattern::star}};
    CHECK_THROWS_WITH(plan_by_rule({Operation::gather, 5, 0, 1, 8, true}, network, ScheduleRule::fef, star),
                      Contains("broadcast and reduce"));
    CHECK_THROWS_WITH(
        plan_by_rule({Operation::broadcast, 4, 0, 1, 8, true}, network, ScheduleRule::fef, star),
        Contains("4 members"));
    CHECK_THROWS_WITH(plan_by_rule({Operation::broadcast, 5, 0, 1, 8, true}, network, ScheduleRule::fef, {}),
                      Contains("at least one pattern"));
    CHECK_THROWS_WITH(
        plan_by_rule({Operation::broadcast, 5, 9, 1, 8, true}, network, ScheduleRule::fef, star),
        Contains("no root 9"));
    // One cluster, one host and one member need no schedule.
    const Network one(map_of({5}, kSizes, two_levels_us), {0, 1, 2, 3, 4});
    CHECK(prove(plan_by_rule({Operation::broadcast, 5, 2, 1, 8, true}, one, ScheduleRule::fef, star)));
    const Network here(map_of({5}, kSizes, two_levels_us), {0, 0});
    CHECK(prove(plan_by_rule({Operation::reduce, 2, 1, 1, 8, true}, here, ScheduleRule::optimal, star)));
    const Network alone(map_of({5}, kSizes, two_levels_us), {0});
    CHECK(plan_by_rule({Operation::reduce, 1, 0, 1, 8, true}, alone, ScheduleRule::optimal, star)
              .messages.empty());
    // Size 0 between clusters, and more clusters than an optimum is searched for.
    CHECK(
        prove(plan_by_rule({Operation::broadcast, 5, 2, 0, 8, true}, network, ScheduleRule::optimal, star)));
    const Map nine = map_of(std::vector<std::size_t>(9, 2), kSizes, two_levels_us);
    std::vector<std::size_t> host_of(18);
    std::iota(host_of.begin(), host_of.end(), std::size_t{0});
    CHECK(prove(plan_by_rule({Operation::broadcast, 18, 0, 1, 8, true}, Network(nine, host_of),
                             ScheduleRule::optimal, star)));
    CHECK_THROWS_WITH(plan_by_rule({Operation::reduce, 5, 0, 1, 8, false}, network, ScheduleRule::fef, star),
                      Contains("order"));
}

TEST_CASE("the same map gives the same prediction") {
    const Map map = grid5000_map();
    const PolyPrediction one = predict(map, request(65536, 30));
    const PolyPrediction other = predict(map, request(65536, 30));
    CHECK(one.chosen == other.chosen);
    for (std::size_t place = 0; place < one.schedules.size(); ++place) {
        CHECK(one.schedules[place].sends == other.schedules[place].sends);
        CHECK(one.schedules[place].after_s == other.schedules[place].after_s);
    }
}

} // namespace poly_model_test
