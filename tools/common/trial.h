// SPDX-License-Identifier: BSD-3-Clause
// Runs a program in a process of its own, with a time limit, and keeps the output. However the program ends,
// none of its processes is left and the caller lives. Knows nothing of modules. Any thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace plexus::tools {

struct Ending {
    bool timed_out = false;
    int signal = 0;     ///< that ended it; 0: it ended by itself
    int code = 0;       ///< its exit code, if it ended by itself
    std::string output; ///< standard output and error, as they came; the middle of very much is left out
    std::chrono::milliseconds took{0};
};

/// `words`: the program's file, then its arguments. @error not_found, runtime_lost (thrown,
/// as plexus::Error): no process could be made, or the file may not be run
Ending run_trial(std::vector<std::string> words, std::chrono::milliseconds limit);

/// "it was ended by signal 11 (Segmentation fault)"; empty if it ended by itself, in time.
std::string violent_end(const Ending& ending, std::chrono::milliseconds limit);

} // namespace plexus::tools
