// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"

namespace plexus {

double nanoseconds_per_tick() {
    static const double length = [] {
        using namespace std::chrono;
        const auto start = Clock::now();
        const std::uint64_t first = ticks();
        while (Clock::now() - start < 1ms) {}
        const auto stop = Clock::now();
        const std::uint64_t last = ticks();
        return static_cast<double>(duration_cast<nanoseconds>(stop - start).count()) /
               static_cast<double>(last - first);
    }();
    return length;
}

} // namespace plexus
