// SPDX-License-Identifier: BSD-3-Clause
// The poly-model paper's Table 3 by hand, its Table 4 from its Table 2, and the printed formula for the
// binomial tree beside what the tree does.
#include "support/catch.h"

#include "eco/model/words.h"
#include "plexus/eco/model.h"
#include "plexus/error.h"

#include <limits>

namespace table3_test {

using namespace plexus::eco;
using plexus::testing::words_of;

namespace {

/// L = 5, g(m) = 3, g(s) = 1 in four segments.
BroadcastTask task(std::uint64_t members) { return {{5, 3}, {5, 1}, members, 4}; }

} // namespace

TEST_CASE("the values of Table 3 are those worked out by hand") {
    const BroadcastTimes eight = predict_broadcast(task(8));
    CHECK(eight.linear_s == 5 + 7 * 3);
    CHECK(eight.pipeline_s == 7 * (1 + 5) + 1 * 3);
    CHECK(eight.binary_s == 3 * (2 * 3 + 5));
    CHECK(eight.binomial_s == 3 * 5 + 3 * 3);
    CHECK(eight.binomial_exact_s == 3 * 5 + 3 * 3);
    const BroadcastTimes three = predict_broadcast(task(3));
    CHECK(three.linear_s == 5 + 2 * 3);
    CHECK(three.binary_s == 2 * (2 * 3 + 5));
    CHECK(three.binomial_s == 2 * 5 + 3);
    CHECK(three.binomial_exact_s == 2 * 3 + 5);
    const BroadcastTimes two = predict_broadcast(task(2));
    CHECK(two.linear_s == 8);
    CHECK(two.binomial_s == 8);
    CHECK(two.binomial_exact_s == 8);
}

TEST_CASE("one member takes no time, and no member or segment is refused") {
    const BroadcastTimes one = predict_broadcast(task(1));
    for (const double time :
         {one.linear_s, one.pipeline_s, one.binary_s, one.binomial_s, one.binomial_exact_s})
        CHECK(time == 0);
    CHECK_THROWS_AS(predict_broadcast(task(0)), plexus::Error);
    CHECK_THROWS_AS(predict_broadcast({{5, 3}, {5, 1}, 2, 0}), plexus::Error);
    CHECK_THROWS_AS(predict_broadcast({{5, -3}, {5, 1}, 2, 1}), plexus::Error);
    CHECK_THROWS_AS(predict_broadcast({{5, 3}, {std::numeric_limits<double>::quiet_NaN(), 1}, 2, 1}),
                    plexus::Error);
}

TEST_CASE("the exact binomial time is that of the plan, for any number of members") {
    for (const double bytes_per_s : {1e6, 1e9})
        for (Rank members = 1; members <= 70; ++members) {
            const Model model = Hockney{1e-3, bytes_per_s};
            const double played =
                predict_s(model, {Operation::broadcast, members, 0, 8000, 1, true}, {Pattern::binomial});
            const BroadcastTimes told = predict_broadcast(broadcast_task(model, members, 8000, 0));
            INFO(members << " members at " << bytes_per_s);
            CHECK(played == Approx(told.binomial_exact_s).epsilon(1e-12));
        }
}

TEST_CASE("the printed binomial formula is too early where the gap is longer than the latency") {
    const BroadcastTimes long_gap = predict_broadcast({{1, 4}, {1, 4}, 3, 1});
    CHECK(long_gap.binomial_s == 6);
    CHECK(long_gap.binomial_exact_s == 9);
    const BroadcastTimes long_way = predict_broadcast({{4, 1}, {4, 1}, 3, 1});
    CHECK(long_way.binomial_s == 9);
    CHECK(long_way.binomial_exact_s == 6);
}

TEST_CASE("star and chain of the table are those of the plans") {
    const Model model = Hockney{2e-5, 1e8};
    for (const Rank members : {2U, 3U, 9U, 20U}) {
        const PlanRequest request{Operation::broadcast, members, 0, 1 << 16, 1, true};
        const BroadcastTimes told = predict_broadcast(broadcast_task(model, members, 1 << 16, 4096));
        CHECK(predict_s(model, request, {Pattern::star}) == Approx(told.linear_s).epsilon(1e-12));
        CHECK(predict_s(model, request, {Pattern::chain, 2, 4096}) == Approx(told.pipeline_s).epsilon(1e-12));
        CHECK(predict_s(model, request, {Pattern::tree}) <= told.binary_s * (1 + 1e-12));
    }
}

// Table 2: latency in us and members of each cluster; 1 Gb/s.
TEST_CASE("Table 4: binomial inside every cluster of Grid'5000 at 8 kB, pipeline at 512 kB") {
    struct Cluster {
        double latency_us;
        std::uint64_t members;
    };
    for (const Cluster& cluster : {Cluster{48.39, 20}, Cluster{35.52, 11}, Cluster{60.08, 7},
                                   Cluster{26.94, 20}, Cluster{35.04, 19}}) {
        const auto gap = [](std::uint64_t bytes) { return 10e-6 + 8e-9 * static_cast<double>(bytes); };
        const Model model =
            PLogP{cluster.latency_us * 1e-6, {{0, 0, 0, gap(0)}, {1 << 20, 0, 0, gap(1 << 20)}}};
        const auto times = [&](std::uint64_t bytes) {
            return predict_broadcast(
                broadcast_task(model, cluster.members, bytes, best_segment(model, cluster.members, bytes)));
        };
        INFO(cluster.latency_us << " us, " << cluster.members << " members");
        const BroadcastTimes small = times(8192);
        for (const double other : {small.linear_s, small.pipeline_s, small.binary_s}) {
            CHECK(small.binomial_s < other);
            CHECK(small.binomial_exact_s < other);
        }
        const BroadcastTimes large = times(524288);
        for (const double other : {large.linear_s, large.binary_s, large.binomial_s, large.binomial_exact_s})
            CHECK(large.pipeline_s < other);
    }
}

TEST_CASE("segments: a power of two, or the whole message; sizes 0 and 1 and long segments are defined") {
    const Model model = Hockney{1e-5, 1e8};
    const std::uint64_t best = best_segment(model, 20, 1 << 20);
    CHECK(best >= 256);
    CHECK((best & (best - 1)) == 0);
    const auto pipeline = [&](std::uint64_t segment) {
        return predict_broadcast(broadcast_task(model, 20, 1 << 20, segment)).pipeline_s;
    };
    for (std::uint64_t segment = 256; segment <= 1 << 20; segment *= 2)
        CHECK(pipeline(best) <= pipeline(segment));
    for (const std::uint64_t bytes : {0, 1}) {
        CHECK(best_segment(model, 20, bytes) == 0);
        CHECK(broadcast_task(model, 20, bytes, 4096).segments == 1);
    }
    CHECK(broadcast_task(model, 20, 1000, 4096).segments == 1);
    CHECK(broadcast_task(model, 20, 1000, 300).segments == 4);
    CHECK(broadcast_task(model, 20, 1000, 0).segments == 1);
    CHECK(words_of([&] { best_segment(model, 20, 1000, 300); }).find("no power of two") != std::string::npos);
}

} // namespace table3_test
