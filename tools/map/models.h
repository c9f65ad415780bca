// SPDX-License-Identifier: BSD-3-Clause
// `plexus map intercluster` and `plexus map table3`: what models predict, without a map and without a
// network; and schedules as `plexus map predict` prints them, too.
#pragma once

#include "plexus/eco/intercluster.h"
#include "plexus/eco/model.h"

#include <string>
#include <vector>

namespace plexus::tools {

/// The instance in `file`: {"L": [[s]], "g": [[s]], "T": [s], "root": 0}. Diagonals are not looked at.
/// @error not_found, too_large, bad_config the file cannot be read, is above 64 MiB, or holds no instance
/// (thrown; names the file and the place)
eco::InterclusterInstance load_instance(const std::string& file);

struct InterclusterOptions {
    std::string file;
    eco::Completion completion = eco::Completion::after;
    bool json = false;
};

/// Prints the schedules and the one chosen. Returns an exit code.
int print_intercluster(const InterclusterOptions& options);

std::string to_json(const eco::InterclusterSchedule& schedule);
/// On standard output: a schedule a line.
void print(const std::vector<eco::InterclusterSchedule>& schedules);

/// As the command line has them; empty: not given.
struct Table3Options {
    std::string latency;
    std::string gap; ///< of a message
    std::string members;
    std::string size;
    std::string segment;     ///< none: the message in one
    std::string segment_gap; ///< none: `gap`
    bool json = false;
};

/// Prints the values of Table 3. Returns an exit code. @error bad_argument an option is missing or wrong
/// (thrown)
int print_table3(const Table3Options& options);

} // namespace plexus::tools
