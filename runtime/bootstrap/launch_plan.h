// SPDX-License-Identifier: BSD-3-Clause
// Everything about the processes of a job that can be settled before one is started: which
// program, with which arguments and environment, on which processor. Starts nothing.
#pragma once

#include "base/result.h"
#include "plexus/launch.h"

#include <string>
#include <vector>

namespace plexus::bootstrap {

struct PlannedProcess {
    std::string name;                     ///< of the program, as it was given
    std::string path;                     ///< of what is executed: the program or its wrapper, found
    std::vector<std::string> arguments;   ///< with the name of what is executed first
    std::vector<std::string> environment; ///< NAME=VALUE, complete but for the job's URL
    int processor = -1;                   ///< -1: any
};

struct LaunchPlan {
    std::vector<PlannedProcess> processes; ///< by rank
};

/// @error bad_argument no processes, an empty command, a name that no variable can have
/// @error not_found    a program or a configuration file is missing; names it
Result<LaunchPlan> plan_launch(const LaunchOptions& options, const std::string& job_id,
                               const std::string& key_hex);

/// The variable that sets the configuration key `key`: PLEXUS_METHOD_TCP_SNDBUF.
std::string variable_of(const std::string& key);

} // namespace plexus::bootstrap
