// SPDX-License-Identifier: BSD-3-Clause
// The options of the user: the picture, the number of iterations, and the slow members. Reads the command
// line; runs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace balance {

struct Options {
    std::uint32_t rows = 240;
    std::uint32_t columns = 320;
    int iterations = 12;
    std::uint32_t passes = 1000;  ///< of z² + c over every row in an iteration
    std::vector<double> slowness; ///< by rank: 1, or how often each row's work is done
    bool balances = true;
    bool counts_work = false; ///< the load is what was computed, instead of the time it took
    std::string map;          ///< file; empty: none
};

/// Ends the program instead of a run: with help, or with an error.
struct Ending {
    int code = 0;
    std::string text;
};

/// Reads `arguments` for a job of `members`. Throws Ending.
Options read_options(const std::vector<std::string>& arguments, std::uint32_t members);

} // namespace balance
