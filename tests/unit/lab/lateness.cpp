// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/lateness.h"
#include "support/catch.h"

namespace lateness_test {

using namespace plexus::tools::lab;
using namespace std::chrono_literals;

TEST_CASE("lateness is counted beyond its bound, and its quantiles are near") {
    Lateness late;
    CHECK(late.quantile(0.99) == 0ns);
    for (int i = 1; i <= 1000; ++i) late.add(i * 1us);
    CHECK(late.frames() == 1000);
    CHECK(late.late() == 800);
    CHECK(late.worst() == 1ms);
    for (const double share : {0.01, 0.25, 0.5, 0.99}) {
        const double exact = 1e6 * share;
        CHECK(static_cast<double>(late.quantile(share).count()) >= exact * 0.999);
        CHECK(static_cast<double>(late.quantile(share).count()) <= exact * 1.13);
    }
    CHECK(late.quantile(1) == 1ms);
    late.add(1h); // beyond all buckets
    CHECK(late.worst() == 1h);
    CHECK(late.quantile(0.5) < 600us);
}

TEST_CASE("what comes before its time is not late") {
    Lateness late;
    late.add(-5us);
    CHECK(late.quantile(1) == 0ns);
    CHECK(late.late() == 0);
}

} // namespace lateness_test
