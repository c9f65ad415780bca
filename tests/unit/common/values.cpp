// SPDX-License-Identifier: BSD-3-Clause
#include "common/values.h"

#include "support/catch.h"

using namespace plexus::module;
using namespace std::chrono_literals;

TEST_CASE("sizes and durations are read with and without their units") {
    CHECK(parse_size("4 MiB") == 4u << 20);
    CHECK(parse_size("4MiB") == 4u << 20);
    CHECK(parse_size(" 512 ") == 512u);
    CHECK(parse_size("0") == 0u);
    CHECK(parse_duration("50 us") == 50us);
    CHECK(parse_duration("3s") == 3s);
    CHECK(parse_duration("50000 ns") == 50us);
    CHECK(split_list(" a, ,b ,") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("what is no number, too large, or of another unit is not guessed at") {
    for (const char* text :
         {"", "MiB", "4 MB", "-1", "1.5 MiB", "4 s", "18446744073709551616", "99999999999 GiB"})
        CHECK_FALSE(parse_size(text));
    for (const char* text : {"", "5 KiB", "-1 s", "9999999999999 min"}) CHECK_FALSE(parse_duration(text));
    CHECK_FALSE(parse_bool("yes"));
    CHECK_FALSE(parse_count("4 B"));
}
