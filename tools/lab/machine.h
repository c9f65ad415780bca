// SPDX-License-Identifier: BSD-3-Clause
// One host of a lab: a process that holds its namespaces (network, mounts, host name, IPC) and does
// nothing else. The namespaces end with the process. Other processes enter them by its process id.
#pragma once

#include "runtime/base/unique_fd.h"
#include "tools/lab/network.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace plexus::tools::lab {

struct Machine {
    std::string name;
    pid_t pid = -1; ///< in the caller's process namespace
    UniqueFd tap;   ///< gives what the host sends, and takes what the host receives
};

/// Starts a machine for each host of the network. The caller has no threads.
/// @error NotAllowed, Error (thrown)
std::vector<Machine> start_machines(const Network& network);

/// The caller becomes a process on the machine that `pid` holds; its working directory stays.
void enter_machine(pid_t pid);

} // namespace plexus::tools::lab
