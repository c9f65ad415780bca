// SPDX-License-Identifier: BSD-3-Clause
// The coupled model: an atmosphere and an ocean, each on several contexts, which exchange data by the
// best method inside a model and by tcp between the models.
//
//     plexus run -n 6 -- coupled_climate --quick        4 contexts of atmosphere, 2 of ocean
//     plexus run -n 6 -- coupled_climate --table        Table 1 of the Nexus paper
//
// Or two jobs, one for each model, at sites that reach a forwarder only: README.md.
#include "simulation.h"
#include "table.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace {

constexpr double kAllowedDrift = 1e-11;

/// Fails before a long run, not after it.
void check_image(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    if (!std::ofstream(file, std::ios::app))
        throw std::system_error(errno, std::generic_category(), "cannot write the picture " + file);
}

bool conserved(const climate::Outcome& outcome) {
    for (const double drift :
         {outcome.mass_drift, outcome.air_drift, outcome.sea_drift, outcome.exchange_drift})
        if (!(std::abs(drift) < kAllowedDrift)) return false;
    return true;
}

/// Throws climate::Ending.
climate::Layout layout_of(const climate::Jobs& jobs, const climate::Options& options) {
    try {
        return {jobs.contexts(), jobs.atmospheres(), options.grid, options.ratio};
    } catch (const std::invalid_argument& error) { throw climate::Ending{2, error.what()}; }
}

/// Every context ends for the same reason: one context prints the reason before any context leaves.
int end(plexus::Context& here, const climate::Ending& ending) {
    if (here.rank() == 0) {
        std::FILE* const where = ending.code == 0 ? stdout : stderr;
        std::fprintf(where, "%s%s\n", ending.code == 0 ? "" : "coupled_climate: ", ending.text.c_str());
        std::fflush(where);
    }
    here.fence().get();
    return ending.code;
}

/// Throws climate::Ending before the model begins.
int run(plexus::Context& here) {
    // The options are the same in every context.
    const climate::Options options = climate::read_options(here.arguments(), static_cast<int>(here.size()));
    climate::Jobs jobs(here, options);
    const climate::Layout layout = layout_of(jobs, options);
    if (jobs.rank() == 0 && !options.image.empty()) check_image(options.image);

    climate::Simulation simulation(here, jobs, options, layout);
    bool good = true;
    if (options.table) {
        good = climate::run_table(simulation, options, layout);
    } else if (const auto outcome = simulation.run(options.experiments.front())) {
        climate::print(options, layout, options.experiments.front(), *outcome);
        good = conserved(*outcome);
        if (!good) std::printf("Mass or heat got lost: a drift is above %.0e.\n", kAllowedDrift);
    }
    if (!options.image.empty()) {
        if (const auto scene = simulation.show()) {
            climate::draw(*scene, options.image);
            std::printf("%-14s %s\n", "picture", options.image.c_str());
        }
    }
    simulation.fence(); // no context leaves while others still send to it
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        plexus::Options from_program;
        if (climate::wants_blocking(argc, argv)) from_program.set["method.tcp.blocking"] = "true";
        plexus::Context here(argc, argv, from_program);
        try {
            return run(here);
        } catch (const climate::Ending& ending) { return end(here, ending); }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "coupled_climate: %s\n", error.what());
        return 1;
    }
}
