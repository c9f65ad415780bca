// SPDX-License-Identifier: BSD-3-Clause
// The output of a run: energies meanwhile, times and digest at the end. Prints; no network.
#pragma once

#include "options.h"
#include "simulation.h"

#include <cstdint>
#include <span>

namespace dynamics {

/// Of one member.
struct Times {
    double run_s = 0;
    double communication_s = 0;
};

struct Outcome {
    State first, last;
    double drift = 0; ///< the most that the energy was ever off, in first kinetic energies
    std::uint64_t digest = 0;
    std::vector<Times> times; ///< by rank
};

void print_head(const Options& options, std::uint32_t members);
void print_state(int step, const Options& options, const State& state);
void print_end(const Options& options, const Outcome& outcome);

/// True if energy and momentum were conserved; otherwise prints what was not.
bool conserved(const Outcome& outcome);

} // namespace dynamics
