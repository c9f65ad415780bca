// SPDX-License-Identifier: BSD-3-Clause
// One run of a test program: Catch2's, plus three rules. A case that logged an unexpected
// warning or saw a broken promise fails the program. A program whose cases were all skipped
// ends with 77, Meson's code for that. The last line counts the cases. Main thread.
#pragma once

#include <string>
#include <vector>

namespace plexus::testing {

/// Takes our own options (arguments.h) out of the command line; what is left is Catch2's.
/// False: one of them is wrong, and said so.
bool take_arguments(int argc, char** argv, std::vector<char*>& left);

/// Runs what `words` ask Catch2 for, the program's name first. Returns the exit code.
int run_cases(std::vector<char*> words);

struct Case {
    std::string name;
    std::string file; ///< its source
};

/// Every case of the program, in the order of the sources.
std::vector<Case> all_cases();

} // namespace plexus::testing
