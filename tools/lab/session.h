// SPDX-License-Identifier: BSD-3-Clause
// A lab from its first process: machines, switch, the job on them, the report. Everything that the lab
// starts ends with the lab.
#pragma once

#include "plexus/launch.h"
#include "tools/lab/network.h"

#include <string>
#include <vector>

namespace plexus::tools::lab {

struct SessionOptions {
    /// One program for each rank, in order; `hosts` says where.
    LaunchOptions job;
    std::vector<std::size_t> hosts; ///< by rank; hosts.size() of the network: the lab's own machine
    bool is_job = true;             ///< false: one command, which may start a job of its own
    bool text_report = false;
    std::string json_file; ///< "-": standard output; empty: none
    bool quiet = false;
};

/// `listener` is the socket for `plexus lab ctl`; the caller keeps it. Must run in a world of its own. The
/// job's exit code.
/// @error NotAllowed, Error (thrown)
int run_session(const Network& network, SessionOptions options, int listener);

/// The machine that the lab runs on, as a host.
inline constexpr char kLabName[] = "lab";

/// Names of the variables that processes of a lab have; none of them is a setting.
inline constexpr char kNetworkVariable[] = "PLEXUS_JOB_NETWORK";
inline constexpr char kScaleVariable[] = "PLEXUS_JOB_NETWORK_SCALE";
inline constexpr char kHostsVariable[] = "PLEXUS_JOB_NETWORK_HOSTS"; ///< name:process,name:process,...

} // namespace plexus::tools::lab
