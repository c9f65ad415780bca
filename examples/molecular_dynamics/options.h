// SPDX-License-Identifier: BSD-3-Clause
// The options of the user: the fluid, the length of the run, and the collective algorithm. Reads the
// command line; runs nothing.
#pragma once

#include <plexus/eco/algorithm.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dynamics {

/// In the units of the Lennard-Jones potential.
struct Options {
    std::uint32_t atoms = 864; ///< a whole crystal
    double density = 0.8442;
    double temperature = 1.44; ///< of the crystal that melts; about half of it remains
    double time_step = 0.004;
    int steps = 500;
    int report_every = 0; ///< steps between two lines of energies; 0: first and last alone
    std::uint64_t seed = 1;
    bool fixed_sums = false; ///< forces are added up as whole numbers, in which order does not count
    std::string pattern = "auto";
    plexus::eco::Algorithm algorithm; ///< what `pattern` says
    std::string map;                  ///< file; empty: none
};

/// Ends the program instead of a run: with help, or with an error.
struct Ending {
    int code = 0;
    std::string text;
};

/// Throws Ending.
Options read_options(const std::vector<std::string>& arguments);

} // namespace dynamics
