// SPDX-License-Identifier: BSD-3-Clause
// Within 20 %: inclusive, and decided by the decimal numbers that people wrote.
#include "support/catch.h"

#include "plexus/eco/partition.h"

#include <limits>

namespace tolerance_test {

using namespace plexus::eco;

TEST_CASE("twenty percent more is within twenty percent, whatever binary fractions say") {
    const Tolerance fifth;
    // 1.20 * 0.3 is less than 0.36 in doubles, and 5 * 0.36 is more than 6 * 0.3.
    for (int tenths = 1; tenths <= 100'000; ++tenths) {
        const double least = tenths / 10.0;
        const double exactly = tenths * 12 / 100.0;
        const double more = (tenths * 12 + 0.001) / 100.0;
        if (!fifth.holds(exactly, least) || fifth.holds(more, least)) FAIL("at " << least);
    }
    CHECK(fifth.holds(0.36, 0.3));
    CHECK(fifth.holds(0, 0));
    CHECK_FALSE(fifth.holds(1e-300, 0));
    CHECK_FALSE(fifth.holds(CostMatrix::kNotMeasured, CostMatrix::kNotMeasured));
    CHECK(fifth.holds(7, CostMatrix::kNotMeasured));
}

TEST_CASE("other tolerances are exact ratios as well") {
    const Tolerance eighth{1, 8};
    CHECK(eighth.holds(0.9, 0.8));
    CHECK_FALSE(eighth.holds(0.9000001, 0.8));
    const Tolerance third{1, 3};
    CHECK(third.holds(0.4, 0.3));
    CHECK_FALSE(third.holds(0.4000001, 0.3));
    const Tolerance none{0, 1};
    CHECK(none.holds(0.1 + 0.2, 0.3));
    CHECK_FALSE(none.holds(0.3001, 0.3));
}

TEST_CASE("a tolerance is a percentage or a ratio") {
    const auto shown = [](std::string_view text) {
        const auto tolerance = parse_tolerance(text);
        return tolerance ? to_string(*tolerance) : "none";
    };
    CHECK(shown("20%") == "20%");
    CHECK(shown("20 %") == "20%");
    CHECK(shown("0%") == "0%");
    CHECK(shown("12.5%") == "1/8");
    CHECK(shown("1/3") == "1/3");
    CHECK(shown("2/10") == "20%");
    CHECK(shown("1000000%") == "1000000%");
    for (const char* bad : {"", "%", "20", "0.2", "-5%", "1/0", "/5", "1/", "20%%", "5.%", ".5%", "1e2%",
                            "1000001%", "4294967296%", "1.0000001%", "nan%", "1/2/3"}) {
        INFO(bad);
        CHECK(shown(bad) == "none");
    }
}

} // namespace tolerance_test
