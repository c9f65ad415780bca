// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace dynamics {
namespace {

// What velocity Verlet may be off at any moment falls with the square of the step: at 0.004, from
// 4e-4 of the first kinetic energy (temperature 1.44) to 2e-3 (10). What rounding adds to the
// momentum is far less.
constexpr double kAllowedDrift = 5e-3;
constexpr double kAllowedMomentum = 1e-9;

} // namespace

void print_head(const Options& options, std::uint32_t members) {
    std::printf("%-14s %u in a cube of %.3f, steps of %g\n", "atoms", options.atoms,
                box_side(options.atoms, options.density), options.time_step);
    std::printf("%-14s %u, pattern %s%s\n", "members", members, options.pattern.c_str(),
                options.map.empty() ? "" : (" on the map " + options.map).c_str());
    std::printf("%-14s %s\n", "sums",
                options.fixed_sums ? "fixed: no order counts" : "double: in the order of the pattern");
    std::printf("\n%8s %12s %12s %12s %12s\n", "step", "potential", "kinetic", "energy", "temperature");
}

void print_state(int step, const Options& options, const State& state) {
    std::printf("%8d %12.6f %12.6f %12.6f %12.4f\n", step, state.potential / options.atoms,
                state.kinetic / options.atoms, state.energy() / options.atoms, state.temperature);
    std::fflush(stdout);
}

void print_end(const Options& options, const Outcome& outcome) {
    double run = 0, communication = 0, least = 1, most = 0; // of all members together, the first two
    for (const Times& each : outcome.times) {
        run += each.run_s;
        communication += each.communication_s;
        least = std::min(least, each.communication_s / each.run_s);
        most = std::max(most, each.communication_s / each.run_s);
    }
    const double us_a_step = 1e6 / options.steps / static_cast<double>(outcome.times.size());
    std::printf("\n%-14s %.1e of the first kinetic energy, at most\n", "drift", outcome.drift);
    std::printf("%-14s %.1e\n", "momentum", outcome.last.momentum);
    std::printf("%-14s %.1f us\n", "a step", run * us_a_step);
    std::printf("%-14s %.1f us of it, %.0f %% (%.0f to %.0f)\n", "communication", communication * us_a_step,
                100 * communication / run, 100 * least, 100 * most);
    std::printf("%-14s %016" PRIx64 "\n", "digest", outcome.digest);
}

bool conserved(const Outcome& outcome) {
    if (!(outcome.drift < kAllowedDrift)) {
        std::printf("The energy is not conserved: the drift is above %.0e. Take a shorter --time-step.\n",
                    kAllowedDrift);
        return false;
    }
    if (!(outcome.last.momentum < kAllowedMomentum)) {
        std::printf("The momentum is not conserved: it is above %.0e.\n", kAllowedMomentum);
        return false;
    }
    return true;
}

} // namespace dynamics
