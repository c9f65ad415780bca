// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics with replicated data, the first application of the ECO paper: measures a step, and the
// part of the step that the two collective operations take.
//
//     plexus run -n 4 -- molecular_dynamics
//     plexus run -n 4 -- molecular_dynamics --pattern tree:4 --sums fixed
#include "options.h"
#include "report.h"
#include "simulation.h"

#include <plexus/context.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <span>

namespace {

namespace eco = plexus::eco;

template <class Sum>
bool run(const eco::Group& all, const dynamics::Options& options) {
    using Clock = std::chrono::steady_clock;
    const bool speaks = all.rank() == 0;
    dynamics::Simulation<Sum> simulation(all, options);
    dynamics::Outcome outcome;
    outcome.first = simulation.state();
    if (speaks) {
        dynamics::print_head(options, all.size());
        dynamics::print_state(0, options, outcome.first);
    }

    const int check_every = std::max(1, options.steps / 20); // of the energy, printed or not
    std::chrono::duration<double> time{0};
    for (int step = 1; step <= options.steps; ++step) {
        const auto begin = Clock::now();
        simulation.step();
        time += Clock::now() - begin;
        const bool last = step == options.steps;
        const bool reports = last || (options.report_every > 0 && step % options.report_every == 0);
        if (!reports && step % check_every != 0) continue;
        outcome.last = simulation.state();
        const double off = std::abs(outcome.last.energy() - outcome.first.energy()) / outcome.first.kinetic;
        if (!(off <= outcome.drift)) outcome.drift = off; // also where it is no number
        if (speaks && reports) dynamics::print_state(step, options, outcome.last);
    }

    outcome.digest = simulation.digest();
    const dynamics::Times mine{time.count(), simulation.communication().count()};
    if (speaks) outcome.times.resize(all.size());
    all.gather(std::span(&mine, 1), std::span(outcome.times));
    if (!speaks) return true;
    dynamics::print_end(options, outcome);
    return dynamics::conserved(outcome);
}

/// Every context ends for the same reason: one context prints the reason before any context leaves.
int end(plexus::Context& here, const dynamics::Ending& ending) {
    if (here.rank() == 0) {
        std::FILE* const where = ending.code == 0 ? stdout : stderr;
        std::fprintf(where, "%s%s\n", ending.code == 0 ? "" : "molecular_dynamics: ", ending.text.c_str());
        std::fflush(where);
    }
    here.fence().get();
    return ending.code;
}

int run(plexus::Context& here) {
    try {
        const dynamics::Options options = dynamics::read_options(here.arguments());
        eco::GroupOptions with;
        with.map_file = options.map;
        const eco::Group all = eco::Group::world(here, with);
        const bool good =
            options.fixed_sums ? run<dynamics::Fixed>(all, options) : run<dynamics::Doubles>(all, options);
        all.barrier(); // no context leaves while others still send to it
        return good ? 0 : 1;
    } catch (const dynamics::Ending& ending) { return end(here, ending); }
}

} // namespace

int main(int argc, char** argv) {
    try {
        plexus::Context here(argc, argv);
        return run(here);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "molecular_dynamics: %s\n", error.what());
        return 1;
    }
}
