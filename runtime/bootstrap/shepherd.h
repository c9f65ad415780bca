// SPDX-License-Identifier: BSD-3-Clause
// The process between launcher and job. It starts the job's processes, tells the launcher
// how each ended, passes signals on, and when the launcher has gone, however it went, it
// kills all that is left. It decides nothing else. Orphans of the job come to it, so none
// escapes. It is a forked copy of its caller: plain system calls, no locks, no threads.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plexus::bootstrap {

/// One process to start; all of it was prepared before the fork.
struct Charge {
    const char* path;
    char* const* arguments;
    char* const* environment;
    int in, out, err; ///< what becomes its standard streams; -1: /dev/null for in, ours for the others
    int processor;    ///< -1: any
};

struct Herd {
    std::span<const Charge> charges;
    std::span<const int> launcher_fds; ///< the launcher's ends of pipes: closed here
    std::span<char> url;               ///< where the value of the job's URL goes, in the environment above
    sigset_t signal_mask;              ///< what the job's processes start with
    std::uint64_t file_limit;          ///< their soft limit of open files
};

/// From launcher to shepherd, and back. Fixed size; the socket keeps their bounds.
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

/// Runs the herd; `launcher` is a SOCK_SEQPACKET socket. Ends the process.
[[noreturn]] void be_shepherd(int launcher, const Herd& herd);

} // namespace plexus::bootstrap
