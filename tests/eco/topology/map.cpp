// SPDX-License-Identifier: BSD-3-Clause
// The map as a value: what it takes, what it refuses, quantiles, and one number for both
// directions.
#include "support/catch.h"

#include "plexus/eco/map.h"
#include "plexus/error.h"

#include <cmath>
#include <numeric>

namespace map_test {

using namespace plexus::eco;
using Catch::Matchers::Contains;
using plexus::Error;

namespace {

Map two_hosts() { return Map({"a", "b"}, {"tcp"}, {8, 64}, "2026-01-02"); }

} // namespace

TEST_CASE("a cost keeps the least, the median and the quantiles of its samples") {
    const std::vector<double> samples{5, 1, 4, 2, 3};
    const Cost cost = cost_of(samples);
    CHECK(cost.min_us == 1);
    CHECK(cost.p25_us == 2);
    CHECK(cost.median_us == 3);
    CHECK(cost.p75_us == 4);
    CHECK(cost.p95_us == Approx(4.8));
    CHECK(cost.samples == 5);
    CHECK(cost_of(std::vector<double>{1, 2}).median_us == 1.5);
    CHECK(cost.at(Statistic::min) == 1);
    CHECK(cost.at(Statistic::p25) == 2);
    CHECK(cost.at(Statistic::median) == 3);
    CHECK(cost.at(Statistic::p75) == 4);
    CHECK(cost.at(Statistic::p95) == cost.p95_us);
    CHECK_THROWS_AS(cost_of(std::vector<double>{}), Error);
    CHECK_THROWS_AS(cost_of(std::vector<double>{1, -1}), Error);
    CHECK_THROWS_AS(cost_of(std::vector<double>{1, CostMatrix::kNotMeasured}), Error);
}

TEST_CASE("a map refuses what is no host, no size and no cost") {
    CHECK_THROWS_WITH(Map({}, {}, {8}, ""), Contains("1 to 4096 hosts"));
    CHECK_THROWS_WITH(Map({"a", "a"}, {}, {8}, ""), Contains("host a is there twice"));
    CHECK_THROWS_WITH(Map({"a b"}, {}, {8}, ""), Contains("\"a b\""));
    CHECK_THROWS_WITH(Map({"a"}, {}, {}, ""), Contains("at least one size"));
    CHECK_THROWS_WITH(Map({"a"}, {}, {8, 8}, ""), Contains("sizes of a map rise"));
    Map map = two_hosts();
    CHECK_THROWS_WITH(map.set_shared_wires({{0}}), Contains("two hosts or more share a wire"));
    CHECK_THROWS_WITH(map.set_shared_wires({{0, 9}}), Contains("no host 9"));
    CHECK_THROWS_WITH(map.set_shared_wires({{0, 1}, {1, 0}}), Contains("b is on two shared wires"));
    CHECK_THROWS_WITH(map.set_shared_wires({{0, 0}}), Contains("a is on two shared wires"));
    CHECK(map.shared_wires().empty());
    CHECK_THROWS_WITH(map.set(0, 0, 1, {-1, 0, 0, 0, 0, 1, 0}), Contains("from a to b"));
    CHECK_THROWS_WITH(map.set(0, 0, 1, {2, 1, 3, 4, 5, 1, 0}), Contains("do not rise"));
    CHECK_THROWS_WITH(map.set(0, 0, 1, {1, 1, 1, 1, 1, 1, 1}), Contains("no method 1"));
    CHECK_THROWS_AS(map.set(2, 0, 1, {}), Error);
    CHECK_THROWS_WITH(map.index_of("c"), "the map of 2026-01-02 has no host c: measure it with plexus probe");
    CHECK_THROWS_WITH(map.size_index(16), Contains("its sizes are 8, 64"));
    CHECK(map.index_of("b") == 1);
    CHECK(map.size_index(64) == 1);
}

TEST_CASE("names and numbers are refused from the first that a map cannot hold") {
    CHECK(Map({std::string(255, 'n')}, {}, {8}, "").hosts().size() == 1);
    CHECK_THROWS_WITH(Map({std::string(256, 'n')}, {}, {8}, ""), Contains("1 to 255 characters"));
    CHECK_THROWS_WITH(Map({"a#b"}, {}, {8}, ""), Contains("no blank and no #"));
    CHECK_THROWS_WITH(Map({"a"}, {"t\x7f"}, {8}, ""), Contains("is no name of a method"));
    constexpr std::uint64_t kMost = INT64_MAX;
    CHECK(Map({"a"}, {}, {kMost}, "").size_index(kMost) == 0);
    CHECK_THROWS_WITH(Map({"a"}, {}, {kMost + 1}, ""), Contains("too large for a map"));
    std::vector<std::string> hosts;
    for (int host = 0; host < 64; ++host) hosts.push_back("h" + std::to_string(host));
    std::vector<std::uint64_t> sizes((std::size_t{1} << 25) / 4096 + 1);
    std::iota(sizes.begin(), sizes.end(), std::uint64_t{0});
    CHECK_THROWS_WITH(Map(hosts, {}, sizes, ""), Contains("64 hosts and 8193 sizes are too many"));
}

TEST_CASE("acquired models are sorted by pair, and what no map can hold is refused") {
    Map map({"a", "b", "c"}, {}, {8}, "");
    const auto model = [](std::size_t from, std::size_t to, const std::string& name) {
        return AcquiredModel{from, to, name, {}, {}, {}, {}};
    };
    map.set_acquired({model(2, 0, "z"), model(0, 2, "y"), model(2, 0, "a")});
    REQUIRE(map.acquired().size() == 3);
    CHECK(map.acquired()[0] == model(0, 2, "y"));
    CHECK(map.acquired()[1] == model(2, 0, "z"));
    CHECK(map.acquired()[2] == model(2, 0, "a"));
    CHECK_THROWS_WITH(map.set_acquired({model(0, 3, "y")}), Contains("between two hosts of the map"));
    CHECK_THROWS_WITH(map.set_acquired({model(3, 0, "y")}), Contains("between two hosts of the map"));
    CHECK_NOTHROW(map.set_acquired({model(0, 1, std::string(64, 'm'))}));
    CHECK_THROWS_WITH(map.set_acquired({model(0, 1, std::string(65, 'm'))}), Contains("1 to 64 of a-z"));
    constexpr std::uint64_t kMost = INT64_MAX;
    AcquiredModel costly = model(0, 1, "y");
    costly.cost = {kMost, kMost, 0};
    CHECK_NOTHROW(map.set_acquired({costly}));
    costly.cost = {kMost + 1, 0, 0};
    CHECK_THROWS_WITH(map.set_acquired({costly}), Contains("too large for a map"));
    costly.cost = {0, kMost + 1, 0};
    CHECK_THROWS_WITH(map.set_acquired({costly}), Contains("too large for a map"));
    AcquiredModel sized = model(0, 1, "y");
    sized.levels = {{0, {{kMost, 0, 0, 0}}}};
    CHECK_NOTHROW(map.set_acquired({sized}));
    sized.levels = {{0, {{kMost + 1, 0, 0, 0}}}};
    CHECK_THROWS_WITH(map.set_acquired({sized}), Contains("9223372036854775808 B is none of them"));
}

TEST_CASE("a matrix of costs refuses what is no cost, and a host costs nothing to itself") {
    CostMatrix costs(2);
    CHECK(costs(1, 1) == 0);
    costs.set(1, 1, 5);
    CHECK(costs(1, 1) == 0);
    CHECK_THROWS_WITH(costs.set(0, 1, -1), Contains("from 0 up, not -1"));
    CHECK_THROWS_WITH(costs.set(0, 1, std::nan("")), Contains("from 0 up"));
    CHECK_THROWS_WITH(costs.set(0, 2, 1), Contains("no such host"));
    CHECK_THROWS_WITH(costs.set(2, 0, 1), Contains("no such host"));
    CHECK(costs == CostMatrix(2));
}

TEST_CASE("what was not measured is infinity in the matrix") {
    Map map = two_hosts();
    map.set(1, 0, 1, {1, 2, 3, 4, 5, 6, 0});
    CHECK(map.matrix(1, Statistic::median)(0, 1) == 3);
    CHECK(map.matrix(1, Statistic::min)(1, 0) == CostMatrix::kNotMeasured);
    CHECK(map.matrix(0, Statistic::min) == CostMatrix(2));
    CHECK_FALSE(map.same_both_ways());
    map.set_both(1, 0, 1, {1, 2, 3, 4, 5, 6, 0});
    CHECK(map.same_both_ways());
}

TEST_CASE("costs that differ by direction are refused or made one as told") {
    const std::vector<std::string> names{"a", "b", "c"};
    CostMatrix costs(3);
    costs.set(0, 1, 2);
    costs.set(1, 0, 4);
    costs.set(2, 0, 7);
    CHECK_THROWS_WITH(symmetric(costs, Symmetry::refuse, names),
                      Contains("a to b is 2 us, b to a is 4 us") && Contains("min, the max or the mean"));
    CHECK(symmetric(costs, Symmetry::min, names)(1, 0) == 2);
    CHECK(symmetric(costs, Symmetry::max, names)(0, 1) == 4);
    const CostMatrix mean = symmetric(costs, Symmetry::mean, names);
    CHECK(mean(0, 1) == 3);
    CHECK(mean(1, 0) == 3);
    CHECK(mean(0, 2) == 7); // measured one way: that is what is known
    CHECK(mean(1, 2) == CostMatrix::kNotMeasured);
    CHECK(symmetric(mean, Symmetry::refuse, names) == mean);
    costs.set(0, 1, 4);
    CHECK_THROWS_WITH(symmetric(costs, Symmetry::refuse, names), Contains("a to c is not measured"));
}

} // namespace map_test
