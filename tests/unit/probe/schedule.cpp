// SPDX-License-Identifier: BSD-3-Clause
// Which pairs a probe measures, and what it keeps of an older map.
#include "tools/probe/schedule.h"

#include "plexus/error.h"
#include "support/catch.h"

#include <algorithm>
#include <set>

namespace schedule_test {

using namespace plexus::eco;
using namespace plexus::tools::probe;

namespace {

Cost cost_like(double us) { return {us, us + 1, us + 2, us + 3, us + 4, 5, 0}; }

Map three() {
    Map map({"a", "b", "c"}, {"tcp"}, {8, 1024}, "then");
    for (const std::size_t size : {0u, 1u}) {
        map.set_both(size, 0, 1, cost_like(1));
        map.set_both(size, 0, 2, cost_like(2));
    }
    map.set_both(0, 1, 2, cost_like(3)); // of 1024 bytes: interrupted
    return map;
}

} // namespace

TEST_CASE("every pair is measured once, in as few rounds of disjoint pairs as can be") {
    for (std::size_t hosts = 0; hosts <= 41; ++hosts) {
        const auto rounds = rounds_of(hosts);
        INFO(hosts);
        CHECK(rounds.size() == (hosts < 2 ? 0 : hosts - 1 + hosts % 2));
        std::set<HostPair> seen;
        for (const Round& round : rounds) {
            std::set<std::size_t> busy;
            for (const HostPair& pair : round) {
                CHECK(pair.a < pair.b);
                CHECK(pair.b < hosts);
                CHECK(busy.insert(pair.a).second);
                CHECK(busy.insert(pair.b).second);
                CHECK(seen.insert(pair).second);
            }
        }
        CHECK(seen.size() == (hosts < 2 ? 0 : hosts * (hosts - 1) / 2));
    }
}

TEST_CASE("what needs no measuring is left out, and one pair at a time is a round of one") {
    const auto rounds = only(rounds_of(6), [](const HostPair& pair) { return pair.a == 2 || pair.b == 2; });
    CHECK(rounds.size() == 5);
    for (const Round& round : rounds) CHECK(round.size() == 1);
    CHECK(one_by_one(rounds_of(6)).size() == 15);
    CHECK(only(rounds_of(6), [](const HostPair&) { return false; }).empty());
}

TEST_CASE(
    "models that were acquired now replace earlier ones of their link, unless they have no parameters") {
    Map map({"a", "b", "c", "d"}, {}, {8}, "then");
    const auto model = [](std::size_t from, std::size_t to, double latency, const char* name = "hockney") {
        AcquiredModel out{from, to, name, {}, {}, {}, {}};
        if (latency > 0) out.parameters = {{"latency_s", latency}, {"bytes_per_s", 1e9}};
        return out;
    };
    const Partition subnets{{0, 1}, {2, 3}};
    map.set_acquired({model(0, 1, 1), model(0, 1, 2, "logp"), model(0, 2, 3), model(2, 3, 0)});
    keep_models(map, subnets, {model(0, 1, 0), model(0, 1, 5, "logp"), model(0, 1, 0, "plogp")});
    keep_models(map, subnets, {model(1, 3, 6)}); // another pair of the same two subnets
    keep_models(map, subnets, {model(3, 2, 7)});
    CHECK(map.acquired() == std::vector<AcquiredModel>{model(0, 1, 5, "logp"), model(0, 1, 0, "plogp"),
                                                       model(0, 1, 1), model(1, 3, 6), model(3, 2, 7)});
}

TEST_CASE("a pair has as many passes as the size that has the fewest") {
    Map map = three();
    CHECK(passes_of(map, {0, 1}) == 1);
    CHECK(passes_of(map, {1, 2}) == 0);
    Cost more = map.cost(1, 0, 2);
    more.passes = 4;
    map.set(1, 0, 2, more);
    CHECK(passes_of(map, {0, 2}) == 1); // the other size and direction have one
    map.set_both(0, 0, 2, more);
    map.set(1, 2, 0, more);
    CHECK(passes_of(map, {0, 2}) == 4);
}

TEST_CASE("a map that goes on keeps its costs, hosts and sizes, and gets new hosts at the end") {
    const Map map = extended(three(), {"d", "b"}, {"shm", "tcp"}, "now");
    CHECK(map.hosts() == std::vector<std::string>{"a", "b", "c", "d"});
    CHECK(map.methods() == std::vector<std::string>{"tcp", "shm"});
    CHECK(map.sizes_bytes() == three().sizes_bytes());
    CHECK(map.date() == "now");
    CHECK(map.cost(1, 2, 0) == cost_like(2));
    CHECK_FALSE(map.cost(1, 1, 2).measured());
    CHECK_FALSE(map.cost(0, 0, 3).measured());
}

TEST_CASE("of repeats the second least is kept, number by number") {
    const Cost repeats[] = {cost_like(9), cost_like(1), cost_like(4)};
    const Cost kept = second_least_of(repeats);
    CHECK(kept.min_us == 4);
    CHECK(kept.p95_us == 8);
    CHECK(kept.samples == 15);
    CHECK(second_least_of(std::span(repeats, 2)).min_us == 9);
    CHECK(second_least_of(std::span(repeats, 1)).min_us == 9);
    const Cost in_a_burst[] = {cost_like(4), cost_like(90), cost_like(5), cost_like(91), cost_like(92)};
    CHECK(second_least_of(in_a_burst).min_us == 5);
    // Numbers of different repeats may be mixed; they still rise.
    const Cost crossing[] = {{1, 9, 9, 9, 9, 1, 0}, {2, 3, 4, 5, 20, 1, 0}, {3, 3, 3, 3, 3, 1, 0}};
    Map map({"a", "b"}, {"tcp"}, {8}, "");
    CHECK_NOTHROW(map.set(0, 0, 1, second_least_of(crossing)));
    CHECK(rounded({1.23456789, 2, 2, 2, 2, 1, 0}).min_us == 1.2346);
}

TEST_CASE("of passes the least of each number is kept, and they are counted") {
    const Cost quiet{2, 3, 4, 5, 90, 4, 0};
    const Cost disturbed{70, 71, 72, 73, 74, 3, 1};
    const Cost kept{2, 3, 4, 5, 74, 7, 0, 2};
    CHECK(least_of(quiet, disturbed) == kept);
    CHECK(least_of(disturbed, quiet) == kept);
    CHECK(least_of(quiet, quiet) == Cost{2, 3, 4, 5, 90, 8, 0, 2});
}

} // namespace schedule_test
