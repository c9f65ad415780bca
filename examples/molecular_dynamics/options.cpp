// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include "fluid.h"
#include "pairs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

namespace dynamics {
namespace {

namespace eco = plexus::eco;

/// A pattern that serves both operations of a step.
bool serves(eco::Pattern pattern) {
    return eco::supports(pattern, eco::Operation::all_gather) &&
           eco::supports(pattern, eco::Operation::all_reduce);
}

eco::Algorithm read_pattern(const std::string& text) {
    const auto algorithm = eco::parse_algorithm(text);
    if (algorithm && (!algorithm->options() || serves(algorithm->options()->pattern))) return *algorithm;
    std::string known = "auto, eco";
    for (const eco::Pattern pattern : eco::kPatterns) {
        if (!serves(pattern)) continue;
        known += ", " + std::string(eco::to_string(pattern));
        if (pattern == eco::Pattern::tree) known += ":K";
    }
    throw Ending{2, "--pattern takes " + known + "; not \"" + text + "\""};
}

} // namespace

Options read_options(const std::vector<std::string>& arguments) {
    Options options;
    std::string sums = "double";
    CLI::App app{
        "A Lennard-Jones fluid in a periodic box. Every member has all positions and computes a share\n"
        "of the forces. Start it with: plexus run -n 4 -- molecular_dynamics"};
    app.name("molecular_dynamics");
    app.add_option("--atoms", options.atoms,
                   "how many, or a few more: a whole crystal has 108, 256, 500, 864 ...")
        ->check(CLI::Range(2u, kMostAtoms))
        ->capture_default_str();
    app.add_option("--density", options.density, "atoms in a unit of volume")
        ->check(CLI::Range(0.001, 1.2))
        ->capture_default_str();
    app.add_option("--temperature", options.temperature,
                   "at the start, of a crystal; about half of it remains")
        ->check(CLI::Range(0.1, 20.0))
        ->capture_default_str();
    app.add_option("--time-step", options.time_step, "of the integration")
        ->check(CLI::Range(1e-6, 0.05))
        ->capture_default_str();
    app.add_option("--steps", options.steps, "how many")
        ->check(CLI::Range(1, 100'000'000))
        ->capture_default_str();
    app.add_option("--report-every", options.report_every,
                   "steps between two lines of energies; 0: first and last alone")
        ->check(CLI::Range(0, 100'000'000))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "of the velocities")->capture_default_str();
    app.add_option("--sums", sums,
                   "double: forces are added in the order that the pattern has; fixed: as whole numbers of\n"
                   "2^-40, so that every pattern and any number of members give the same bits")
        ->check(CLI::IsMember({"double", "fixed"}))
        ->capture_default_str();
    app.add_option("--pattern", options.pattern,
                   "who sends to whom: auto, eco (follows --map), star, tree:K, binomial, ring, ...")
        ->capture_default_str();
    app.add_option("--map", options.map, "the measured network, a map or a plain matrix");

    try {
        // CLI11 takes a vector from its end.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) { throw Ending{0, app.help()}; } catch (const CLI::ParseError& error) {
        throw Ending{2, std::string(error.what()) + "; see --help"};
    }

    options.fixed_sums = sums == "fixed";
    options.algorithm = read_pattern(options.pattern);
    if (options.algorithm.follows_map() && options.map.empty())
        throw Ending{2, "--pattern eco follows a map: name its file with --map"};
    options.atoms = whole_crystal(options.atoms);
    if (box_side(options.atoms, options.density) < 2 * kCutoff) {
        const auto least = static_cast<std::uint32_t>(std::ceil(std::pow(2 * kCutoff, 3) * options.density));
        throw Ending{2, "the box is too small: at this density take at least " +
                            std::to_string(whole_crystal(least)) + " --atoms"};
    }
    return options;
}

} // namespace dynamics
