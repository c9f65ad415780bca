// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/alarm_clock.h"
#include "support/catch.h"

namespace alarm_clock_test {

using namespace plexus::tools::lab;
using namespace std::chrono_literals;

TEST_CASE("a sleeper is woken before its time, and waits busily for the rest") {
    AlarmClock alarm;
    CHECK(alarm.sleep(1s, 1ms) == 1ms - AlarmClock::kAhead);
    CHECK(alarm.sleep(1s, AlarmClock::kAhead) == 0ns);
    CHECK(alarm.sleep(1s, -1ms) == 0ns);
}

TEST_CASE("busy waiting never costs more than its share") {
    AlarmClock alarm;
    Time now{0};
    Time spun{0};
    while (now < 1s) { // something is always due in 20 us, and waking takes all of them
        now += 20us;
        if (alarm.sleep(now, 20us) != 0ns) continue;
        alarm.note_spun(20us);
        spun += 20us;
    }
    CHECK(alarm.spun() == spun);
    const double share = static_cast<double>(spun.count()) / static_cast<double>(now.count());
    CHECK(share < AlarmClock::kShare + 0.01);
    CHECK(share > AlarmClock::kShare - 0.05);
}

} // namespace alarm_clock_test
