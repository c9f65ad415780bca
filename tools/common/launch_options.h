// SPDX-License-Identifier: BSD-3-Clause
// The common part of the command lines that start jobs: variables and settings for the job's processes, and
// where the program begins.
#pragma once

#include "plexus/launch.h"

#include <string>
#include <vector>

namespace CLI {
class App; // its header costs eight seconds of a compiler
}

namespace plexus::tools {

/// From the words of -x: NAME=VALUE, or NAME alone, which must be set here.
/// @error bad_argument names the verb (thrown, as plexus::Error)
NamesAndValues variables_from(const std::vector<std::string>& words, const char* verb);

/// From the words of --set: KEY=VALUE.
/// @error bad_argument names the verb (thrown)
NamesAndValues settings_from(const std::vector<std::string>& words, const char* verb);

/// Parses the options before a program, and gives the program with its own words. A "--" before the program
/// ends the options; a "--" behind it belongs to the program. `place`: what follows "no option of plexus
/// VERB".
/// @error bad_argument names the verb (thrown); CLI::CallForHelp help was asked for (thrown)
std::vector<std::string> parse_before_program(CLI::App& app, const std::vector<std::string>& words,
                                              const char* verb, const char* place = "");

} // namespace plexus::tools
