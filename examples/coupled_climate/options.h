// SPDX-License-Identifier: BSD-3-Clause
// The options of the user: the grid, the length, the sizes of the partitions, and the experiments with
// methods and polling. Reads the command line; runs nothing.
#pragma once

#include "layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace climate {

/// One row of the table: which methods, and how often tcp is asked for work.
struct Experiment {
    enum class Polling { selective, skip, automatic, blocking };

    std::string name;
    bool tcp_only = false; // inside the partitions too
    Polling polling = Polling::automatic;
    std::uint32_t skip = 1; // of Polling::skip
};

struct Options {
    Grid grid;           // of the atmosphere
    int ratio = 2;       // the ocean's cells along one of the atmosphere's
    int atmospheres = 0; // contexts; the others are the ocean. Of two jobs, both know only when they meet
    std::string sites;   // where the jobs of both models meet; empty: one job runs both
    Model model = Model::atmosphere; // of this job, where there are two
    bool serve = false;              // this job listens at `sites`
    int wait = 60;                   // s, for the other job
    std::string between = "tcp";     // the method between the models; auto: what selection finds
    int steps = 0;                   // of the atmosphere, even
    bool table = false;
    int repetitions = 5;                 // of each row of the table
    std::string image;                   // empty: none
    std::vector<Experiment> experiments; // one, or the rows of the table
};

/// Ends the program instead of a run: with help, or with an error.
struct Ending {
    int code = 0;
    std::string text;
};

/// Reads `arguments` for a job of `contexts`. Throws Ending.
Options read_options(const std::vector<std::string>& arguments, int contexts);

/// True if blocking polling is wanted: the context must be started with that setting.
bool wants_blocking(int argc, const char* const* argv);

} // namespace climate
