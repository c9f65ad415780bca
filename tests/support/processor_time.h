// SPDX-License-Identifier: BSD-3-Clause
// Time as a processor spends it, for limits that other processes on the machine must not break.
#pragma once

#include <ctime>

namespace plexus::testing {

/// Time that this thread has had of a processor, in seconds.
inline double processor_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

} // namespace plexus::testing
