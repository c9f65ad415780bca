// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"
#include "base/pause.h"

#include "support/catch.h"

namespace clock_test {

using namespace plexus;
using namespace std::chrono_literals;

TEST_CASE("ticks rise and measure the same time as the clock") {
    const double nanoseconds = nanoseconds_per_tick();
    CHECK(nanoseconds > 0.0);
    CHECK(nanoseconds == nanoseconds_per_tick());

    const auto start = Clock::now();
    const std::uint64_t first = ticks();
    while (Clock::now() - start < 20ms) relax();
    const std::uint64_t last = ticks();
    const double by_clock = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    REQUIRE(last > first);
    const double by_ticks = static_cast<double>(last - first) * nanoseconds;
    // Wide bounds: the core may be lost between two reads, on either side.
    CHECK(by_ticks > 0.5 * by_clock);
    CHECK(by_ticks < 2.0 * by_clock);
}

} // namespace clock_test
