// SPDX-License-Identifier: BSD-3-Clause
// Rounds, medians and percentiles, with runs whose duration is made up.
#include "tools/benchmark/timing.h"
#include "tools/benchmark/statistics.h"

#include "support/catch.h"

#include <vector>

namespace timing_test {

using namespace plexus::tools::benchmark;

TEST_CASE("the best of several rounds counts, and the warm-up does not") {
    std::vector<std::uint64_t> runs;
    const double taken[] = {9, 8, 5, 3, 4}; // seconds
    const Best best = best_of({.iterations = 40, .fewest = 2, .rounds = 3}, [&](std::uint64_t times) {
        runs.push_back(times);
        return taken[runs.size() - 1];
    });
    CHECK(runs == std::vector<std::uint64_t>{2, 4, 40, 40, 40});
    CHECK(best.iterations == 40);
    CHECK(best.seconds == 3);
    CHECK(best.each() == 3.0 / 40);
}

TEST_CASE("a round has as many iterations as take its time") {
    const auto run = [](std::uint64_t times) { return static_cast<double>(times) * 1e-6; };
    CHECK(best_of({.round_seconds = 0.05, .fewest = 10}, run).iterations == 50'000);
    CHECK(best_of({.round_seconds = 1e-9, .fewest = 10}, run).iterations == 10);
    std::uint32_t said = 0;
    best_of({.rounds = 4}, run, [&](std::uint32_t round) { CHECK(round == said++); });
    CHECK(said == 5);
}

TEST_CASE("a run that fails ends the measurement with a negative time") {
    std::uint32_t runs = 0;
    const auto fails_from = [&](std::uint32_t first) {
        runs = 0;
        return best_of({.iterations = 8, .rounds = 5},
                       [&](std::uint64_t) { return ++runs < first ? 1.0 : -1.0; });
    };
    CHECK(fails_from(1).seconds < 0);
    CHECK(runs == 3);
    CHECK(fails_from(4).seconds < 0);
    CHECK(runs == 4);
    CHECK(best_of({.fewest = 1, .rounds = 5}, [](std::uint64_t) { return -1.0; }).seconds < 0);
}

TEST_CASE("medians and percentiles") {
    CHECK_FALSE(median({}));
    CHECK(median({3, 1, 2}) == 2.0);
    CHECK(median({4, 1, 3, 2}) == 2.5);
    std::vector<float> none;
    CHECK_FALSE(percentile(none, 0.5));
    std::vector<float> samples{5, 1, 4, 2, 3};
    CHECK(percentile(samples, 0.5) == 3.0);
    CHECK(percentile(samples, 0.99) == 4.0);
    CHECK(percentile(samples, 1) == 5.0);
}

} // namespace timing_test
