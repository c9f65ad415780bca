// SPDX-License-Identifier: BSD-3-Clause
// Which of several times of one experiment stands for them.
#include "tools/probe/typical_time.h"
#include "support/catch.h"

namespace typical_time_test {

using plexus::tools::probe::typical_time;

TEST_CASE("without load the least time counts, and under load the median") {
    CHECK(typical_time({5, 3, 9}, false) == 3);
    CHECK(typical_time({9, 3, 5}, true) == 5);
    CHECK(typical_time({1, 40, 30, 50, 60}, true) == 40); // one came through between two loads
    CHECK(typical_time({40, 10, 20, 30}, true) == 25);
    CHECK(typical_time({7}, false) == 7);
    CHECK(typical_time({7}, true) == 7);
}

} // namespace typical_time_test
