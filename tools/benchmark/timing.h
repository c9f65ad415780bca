// SPDX-License-Identifier: BSD-3-Clause
// Rounds of a measurement: how many iterations make a round, and which of several rounds was the
// best. Knows nothing of what is measured. Any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace plexus::tools::benchmark {

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }
inline double seconds_since(Clock::time_point start) { return seconds(Clock::now() - start); }

/// How much is measured.
struct Effort {
    std::uint64_t iterations = 0; ///< of one round; 0: as many as take about round_seconds
    double round_seconds = 0.05;  ///< short: a disturbance spoils one round only
    std::uint64_t fewest = 1;     ///< iterations of a round
    std::uint32_t rounds = 5;
};

/// The best round.
struct Best {
    std::uint64_t iterations = 0;
    double seconds = 0;
    double each() const noexcept { return seconds / static_cast<double>(iterations); }
};

/// `run(n)` does n iterations and returns the seconds that they took; negative: it failed. Warms up, and
/// returns how many iterations a round has.
template <class Run>
std::uint64_t warm_up(const Effort& effort, Run&& run) {
    run(effort.fewest); // opens connections, meets page faults
    if (effort.iterations != 0) {
        run(std::max<std::uint64_t>(effort.iterations / 10, 1));
        return effort.iterations;
    }
    std::uint64_t times = effort.fewest;
    double each = run(times) / static_cast<double>(times);
    double taken = 0;
    while (taken >= 0 && taken < effort.round_seconds / 10) {
        taken = run(times *= 4);
        each = std::min(each, taken / static_cast<double>(times)); // a disturbed run says nothing
    }
    if (each <= 0) return effort.fewest;
    return std::max(static_cast<std::uint64_t>(effort.round_seconds / each), effort.fewest);
}

/// The quickest of `effort.rounds` rounds; negative seconds: a round failed. `says(round)` is called before
/// each round, with 0 before the warm-up and 1 before the first round.
template <class Run, class Says>
Best best_of(const Effort& effort, Run&& run, Says&& says) {
    says(0u);
    Best best{warm_up(effort, run), 0};
    for (std::uint32_t round = 1; round <= effort.rounds; ++round) {
        says(round);
        const double taken = run(best.iterations);
        best.seconds = round == 1 ? taken : std::min(best.seconds, taken);
        if (taken < 0) break;
    }
    return best;
}

template <class Run>
Best best_of(const Effort& effort, Run&& run) {
    return best_of(effort, run, [](std::uint32_t) {});
}

} // namespace plexus::tools::benchmark
