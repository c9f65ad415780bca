// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/units.h"
#include "support/catch.h"

namespace units_test {

using namespace plexus::tools::lab;
using namespace std::chrono_literals;

TEST_CASE("rates and times are read with their units, and nothing else is") {
    CHECK(parse_rate("10 Mb/s") == 10'000'000U);
    CHECK(parse_rate("1.5kb/s") == 1'500U);
    CHECK(parse_rate("1 Gb/s") == 1'000'000'000U);
    for (const char* bad :
         {"", "10", "10 MB/s", "0 Mb/s", "-1 Mb/s", "2000 Gb/s", "ten Mb/s", "nan Mb/s", "1 Mb/s!"}) {
        INFO(bad);
        CHECK_FALSE(parse_rate(bad));
    }
    CHECK(parse_time("48.39 us") == 48'390ns);
    CHECK(parse_time("0s") == 0ns);
    CHECK(parse_time("2 ms") == 2ms);
    for (const char* bad : {"", "5", "-1 us", "61 s", "1 min", "us", "inf us"}) {
        INFO(bad);
        CHECK_FALSE(parse_time(bad));
    }
}

TEST_CASE("queues are read as bytes, and a unit that could stand for bits is refused") {
    CHECK(parse_queue("64 KiB") == 65'536U);
    CHECK(parse_queue("64 kB") == 64'000U);
    CHECK(parse_queue("64KB") == 64'000U);
    CHECK(parse_queue("1500") == 1'500U);
    CHECK(parse_queue("8 k") == 8'192U);
    for (const char* bad : {"", "64 kb", "64kb", "1 Mb ", "64 kib", "8 b", "64 kb/s", "-1 kB"}) {
        INFO(bad);
        CHECK_FALSE(parse_queue(bad));
    }
}

TEST_CASE("rates and times are shown in the largest unit that fits") {
    CHECK(show_rate(10'000'000) == "10 Mb/s");
    CHECK(show_rate(0) == "without limit");
    CHECK(show_time(6577490ns) == "6.5775 ms");
    CHECK(show_time(0ns) == "0 ns");
}

} // namespace units_test
