// SPDX-License-Identifier: BSD-3-Clause
// Two clocks: Clock for deadlines, ticks() for measuring short things on the hot path.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace plexus {

using Clock = std::chrono::steady_clock;

/// The processor's own counter where it has one that runs at a fixed rate; about 10 ns
/// to read. Only differences mean something. @thread any
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
#endif
}

/// Length of one tick in nanoseconds, measured once per process against Clock (takes a
/// millisecond, the first time). @thread any
double nanoseconds_per_tick();

} // namespace plexus
