// SPDX-License-Identifier: BSD-3-Clause
// What this machine can do at best: the limits that Plexus is measured against. Each
// measurement uses nothing but the C library and the kernel, pins its two sides to two
// cores, and gives the best of several rounds.
#pragma once

#include "tools/benchmark/timing.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace plexus::limits {

struct Plan {
    std::pair<int, int> cores{0, 1}; ///< -1: not pinned
    std::uint32_t rounds = 5;
    double seconds = 0.1;      ///< of one round, about
    std::uint32_t buffers = 1; ///< copy: buffers that are copied from in turn

    tools::benchmark::Effort effort(std::uint64_t fewest) const { return {0, seconds, fewest, rounds}; }
};

/// One way, in microseconds: a cache line that moves to and fro between two threads.
double cache_line_us(const Plan& plan);
/// Messages of 8 bytes a second through a ring of cache lines, one writer, one reader.
double ring_rate(const Plan& plan);
/// MB/s of memcpy into one buffer of this size, on one core.
double copy_bandwidth(const Plan& plan, std::size_t bytes);
/// One way, in microseconds: 8 bytes over a loopback TCP connection, both sides spinning on
/// a non-blocking socket. Negative: there is no loopback, errno says why.
double socket_us(const Plan& plan, std::size_t bytes);
/// MB/s of a loopback TCP connection, written and read in pieces of this size.
double socket_bandwidth(const Plan& plan, std::size_t bytes);

/// Pins the calling thread; core -1: leaves it alone.
void pin(int core);

} // namespace plexus::limits
