// SPDX-License-Identifier: BSD-3-Clause
// The process between launcher and job. The subreaper starts the job's processes, tells the launcher how
// each process ended, and passes signals on. When the launcher has ended, however it ended, the
// subreaper kills all processes that are left. Orphans of the job become its children, so none escapes.
// The subreaper is a forked copy of its caller: plain system calls, no locks, no threads.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plexus::bootstrap {

/// One process to start; everything was prepared before the fork.
struct ProcessSpec {
    const char* path;
    char* const* arguments;
    char* const* environment;
    int in, out, err; ///< its standard streams; -1: /dev/null for in, the launcher's for the others
    int processor;    ///< -1: any
};

struct JobProcesses {
    std::span<const ProcessSpec> processes;
    std::span<const int> launcher_fds; ///< the launcher's ends of pipes: closed here
    std::span<char> url;               ///< where the job's URL is written, in the environment above
    sigset_t signal_mask;              ///< of the job's processes at their start
    std::uint64_t file_limit;          ///< their soft limit of open files
};

/// From launcher to subreaper, and back. Of fixed size; the socket keeps the bounds between messages.
struct Order {
    enum Verb : std::uint32_t { start, signal } verb;
    std::int32_t number; ///< of the signal
    char url[256];       ///< start: the job's directory
};
struct Report {
    enum Event : std::uint32_t { started, not_started, ended } event;
    std::uint32_t rank;
    std::int32_t pid;
    std::int32_t number; ///< not_started: errno; ended: as waitpid() gives it
};

/// Runs the job's processes; `launcher` is a SOCK_SEQPACKET socket. Ends the calling process.
[[noreturn]] void run_subreaper(int launcher, const JobProcesses& job);

} // namespace plexus::bootstrap
