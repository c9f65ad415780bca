// SPDX-License-Identifier: BSD-3-Clause
// Starts a job on this machine: N processes that find each other, with nothing else
// installed. What `plexus run` does, for programs that start jobs of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace plexus {

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

/// One program of a job and how often it runs.
struct LaunchProgram {
    std::uint32_t processes = 1;
    std::vector<std::string> command; ///< the program, then its arguments
    NamesAndValues environment;       ///< for these processes; wins over the job's
    NamesAndValues settings;          ///< configuration: {"method.tcp.sndbuf", "4 MiB"}; wins over the job's
    /// A program and its first arguments that becomes the command: {"nice", "-n", "5"}.
    std::vector<std::string> wrapper;
};

struct LaunchOptions {
    /// Ranks are counted through all programs, in this order.
    std::vector<LaunchProgram> programs;
    NamesAndValues environment; ///< for every process
    NamesAndValues settings;    ///< configuration of every process
    /// A configuration file of its own for a rank.
    std::map<std::uint32_t, std::string> config_files;
    /// Whole lines of output, each with "[rank] " in front. Otherwise the processes write
    /// to this process's output themselves.
    bool prefix_output = true;
    /// Ties each process to one of the processors that this process may use, in turn.
    bool bind_to_core = false;
    /// How long processes may take to end after SIGTERM, when the job is ended.
    std::chrono::milliseconds grace{2000};
    /// Where the job's directory listens: plexus://host:port, port 0 for any that is free.
    /// Empty: on loopback, for processes that see this one's.
    std::string listen;
    /// Who speaks in the lines about the job on standard error: "plexus: rank 1 ...".
    std::string speaker = "plexus";
};

/// Runs a job to its end. SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT of
/// this process are passed on to all of it meanwhile. Rank 0 gets this process's standard
/// input. When one process fails, the others are ended. Nothing of the job survives the
/// call, nor this process, however it ends.
///
/// @return 0, or how the first failing process ended: its exit code, or 128 + its signal
/// @thread any, one job at a time in a process
/// @throws Error bad_argument, not_found (a program or file), busy (a job runs already),
///         runtime_lost (the system gives no process, pipe or port)
[[gnu::visibility("default")]] int launch(const LaunchOptions& options);

} // namespace plexus
