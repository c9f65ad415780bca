// SPDX-License-Identifier: BSD-3-Clause
// The options of `plexus schedule` and its parts.
#pragma once

#include <string>
#include <vector>

namespace plexus::tools::schedule {

/// Options of `table` alone; empty: not given.
struct TableWords {
    std::string runs;
    std::string only;
};

/// Options of `play` alone; empty: not given.
struct PlayWords {
    std::string flits;
    bool asynchronous = false;
};

/// What Equation (1) of the paper needs; empty: not given.
struct TimeWords {
    std::string start;
    std::string byte;
    std::string size;
};

/// As the command line has them; empty: not given.
struct Options {
    std::vector<std::string> words; ///< behind the name of the part
    std::string map;
    std::string against;
    std::string output; ///< "-": standard output
    std::string root;
    std::string ports;
    std::string search;
    std::string seed;
    std::string time;
    TableWords table;
    PlayWords play;
    TimeWords predict;
    std::string round;
    bool svg = false;
    bool json = false;
};

/// Each does one part, prints what it has to say and returns an exit code.
/// @error bad_argument the command line or a file is wrong; not_found a file cannot be read or written
/// (thrown)
int make_schedule(const Options& options);
int check_files(const Options& options);
int print_paths(const Options& options);
int print_bounds(const Options& options);
int play_file(const Options& options);
int print_tables(const Options& options);
int show_schedule(const Options& options);

} // namespace plexus::tools::schedule
