// SPDX-License-Identifier: BSD-3-Clause
// What the small programs of peers have in common: two processes that are pinned to two cores, the rounds,
// and the lines they print. PROGRAM latency|stream CORE0 CORE1 ROUNDS SECONDS BUFFERS BYTES…
#pragma once

#include "tools/benchmark/buffers.h"
#include "tools/benchmark/timing.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <span>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace plexus::limits {

using tools::benchmark::Buffers;

/// What was asked for. Exits with 2 where it cannot be read.
struct Trial {
    Trial(const char* program, int argc, char** argv) {
        if (argc < 8 || (std::string(argv[1]) != "stream" && std::string(argv[1]) != "latency")) {
            std::fprintf(stderr, "usage: %s latency|stream CORE0 CORE1 ROUNDS SECONDS BUFFERS BYTES…\n",
                         program);
            std::exit(2);
        }
        stream = std::string(argv[1]) == "stream";
        cores[0] = std::atoi(argv[2]);
        cores[1] = std::atoi(argv[3]);
        rounds = static_cast<std::uint32_t>(std::atoi(argv[4]));
        seconds = std::atof(argv[5]);
        buffers = static_cast<std::uint32_t>(std::max(1, std::atoi(argv[6])));
        for (int at = 7; at < argc; ++at) sizes.push_back(std::strtoul(argv[at], nullptr, 10));
    }

    bool stream = false;
    int cores[2] = {0, 1};
    std::uint32_t rounds = 3;
    double seconds = 0.05;
    std::uint32_t buffers = 1; ///< of a message's size, which each side sends from in turn
    std::vector<std::size_t> sizes;
};

/// Messages of a stream between two answers: fewer large ones, so that what they land in can stay in the
/// cache if there is one buffer for each.
inline std::uint64_t window_of(std::size_t bytes) {
    return std::clamp<std::uint64_t>((std::uint64_t{1} << 20) / std::max<std::size_t>(bytes, 1), 4, 64);
}

/// One of the two processes of a measurement.
struct Side {
    bool initiates = false;
    int channel = -1;          ///< one end of a connection between the two
    std::uint32_t buffers = 1; ///< that it sends from in turn
    std::size_t bytes = 0;     ///< of a message
    std::uint64_t window = 1;  ///< messages that may come before it answers
};

/// Pins this process, which is ended with its parent.
inline void settle(int core) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

/// Gives the other process an address, and takes its own. Empty: the other has ended.
inline std::vector<std::byte> exchange(int channel, std::span<const std::byte> mine) {
    const auto all = [&](auto move, std::byte* at, std::size_t bytes) {
        for (std::size_t done = 0; done < bytes;) {
            const ssize_t moved = move(channel, at + done, bytes - done);
            if (moved <= 0) return false;
            done += static_cast<std::size_t>(moved);
        }
        return true;
    };
    std::uint64_t length = mine.size();
    std::vector<std::byte> copy(mine.begin(), mine.end());
    auto* const number = reinterpret_cast<std::byte*>(&length);
    if (!all(::write, number, sizeof length) || !all(::write, copy.data(), copy.size())) return {};
    if (!all(::read, number, sizeof length) || length > 65536) return {};
    std::vector<std::byte> theirs(length);
    if (!all(::read, theirs.data(), theirs.size())) return {};
    return theirs;
}

/// The side that measures. A turn is a round trip (latency), or a window of messages and its answer (stream).
template <class Peer>
void initiate(Peer& peer, const Trial& trial, std::size_t size) {
    const std::uint64_t window = trial.stream ? window_of(size) : 1;
    std::uint64_t answers = 0;
    const auto round = [&](std::uint64_t turns) {
        const auto start = tools::benchmark::Clock::now();
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            for (std::uint64_t message = 0; message < window; ++message) peer.send();
            peer.arrived(++answers);
        }
        return tools::benchmark::seconds_since(start);
    };
    const std::uint64_t fewest =
        std::max<std::uint64_t>(20, trial.buffers / window + 1); // each buffer's turn
    const double turn = tools::benchmark::best_of({0, trial.seconds, fewest, trial.rounds}, round).each();
    const double best = turn / static_cast<double>(trial.stream ? window : 2);
    if (trial.stream) {
        std::printf("{\"size_bytes\":%zu,\"bandwidth_MBps\":%.6g,\"messages_per_s\":%.6g}\n", size,
                    static_cast<double>(size) / best / 1e6, 1 / best);
    } else {
        std::printf("{\"size_bytes\":%zu,\"one_way_us\":%.6g}\n", size, best * 1e6);
    }
    std::fflush(stdout);
}

/// The other side, until it is ended.
template <class Peer>
[[noreturn]] void respond(Peer& peer, const Trial& trial, std::size_t size) {
    const std::uint64_t window = trial.stream ? window_of(size) : 1;
    for (std::uint64_t messages = window;; messages += window) {
        peer.arrived(messages);
        trial.stream ? peer.answer() : peer.send();
    }
}

/// Each size is measured by two new processes. `Peer(Side)` connects; send() sends a message, answer() a
/// short one, arrived(n) waits until n have come. Returns the exit code.
template <class Peer>
int run_pair(const Trial& trial) {
    for (const std::size_t size : trial.sizes) {
        int ends[2] = {-1, -1};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 3;
        pid_t sides[2] = {-1, -1};
        for (const int side : {0, 1}) {
            sides[side] = ::fork();
            if (sides[side] != 0) continue;
            settle(trial.cores[side]);
            ::close(ends[1 - side]);
            Peer peer(Side{side == 0, ends[side], trial.buffers, size, trial.stream ? window_of(size) : 1});
            if (side == 1) respond(peer, trial, size);
            initiate(peer, trial, size);
            std::_Exit(0); // the other side is in the middle of its wait
        }
        for (const int end : ends) ::close(end);
        if (sides[0] < 0 || sides[1] < 0) return 3; // who was forked ends with this process
        int status = 0;
        const pid_t first = ::waitpid(-1, &status, 0); // the initiator, or who could not go on
        const pid_t other = first == sides[0] ? sides[1] : sides[0];
        ::kill(other, SIGKILL);
        ::waitpid(other, nullptr, 0);
        if (first != sides[0] || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return 3;
    }
    return 0;
}

} // namespace plexus::limits
