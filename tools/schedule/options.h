// SPDX-License-Identifier: BSD-3-Clause
// The options of `plexus schedule` and its parts.
#pragma once

#include "plexus/eco/link_graph.h"

#include <string>
#include <vector>

namespace plexus::tools::schedule {

/// As the command line has them; empty: not given.
struct Options {
    std::vector<std::string> words; ///< behind the name of the part
    std::string map;
    std::string against;
    std::string output; ///< "-": standard output
    std::string root;
    std::string ports;
    bool json = false;
};

/// Each does one part, prints what it has to say and returns an exit code.
/// @error bad_argument the command line or a file is wrong; not_found a file cannot be read or written
/// (thrown)
int check_files(const Options& options);
int print_paths(const Options& options);

/// "3": a terminal of the graph. @error bad_argument (thrown; begins with `what`)
std::uint32_t terminal_of(const eco::LinkGraph& graph, const std::string& text, const std::string& what);

} // namespace plexus::tools::schedule
