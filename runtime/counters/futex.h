// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a number in memory that processes share to become another one.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plexus::counters {

/// Sleeps while `word` is `seen`, until it is woken or the time is over; max(): there is no end. May also
/// return early. @thread any
inline void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                        std::chrono::nanoseconds longest = std::chrono::nanoseconds::max()) noexcept {
    timespec time{};
    time.tv_sec = static_cast<time_t>(longest.count() / 1'000'000'000);
    time.tv_nsec = static_cast<long>(longest.count() % 1'000'000'000);
    const bool bounded = longest != std::chrono::nanoseconds::max();
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, bounded ? &time : nullptr, nullptr, 0);
}

/// Wakes all that sleep so, in every process. Call it after the number has changed. @thread any
inline void wake_sleepers(std::atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace plexus::counters
