// SPDX-License-Identifier: BSD-3-Clause
// The grammars of single values.
#include "config/settings.h"
#include "support/catch.h"

namespace values_test {

using namespace plexus;
using namespace plexus::config;
using namespace std::chrono_literals;

namespace {

template <class T>
bool is_refused(const Result<T>& result, std::string_view hint) {
    return result.status() == Status::bad_config && result.failure().why.find(hint) != std::string::npos;
}

} // namespace

TEST_CASE("sizes are bytes, with binary and decimal units") {
    CHECK(*parse_size("0") == 0);
    CHECK(*parse_size("512") == 512);
    CHECK(*parse_size("512 B") == 512);
    CHECK(*parse_size("64KiB") == 65536);
    CHECK(*parse_size(" 4 MiB ") == 4u << 20);
    CHECK(*parse_size("4m") == 4u << 20);
    CHECK(*parse_size("1 GiB") == 1u << 30);
    CHECK(*parse_size("3 GB") == 3'000'000'000u);
    CHECK(*parse_size("2 TiB") == 2ull << 40);
    CHECK(*parse_size("1.5 KiB") == 1536);
    CHECK(*parse_size("16777215 TiB") == 16777215ull << 40);
}

TEST_CASE("what is no size is refused with an example of one") {
    for (const char* bad :
         {"", " ", "MiB", "-1", "4 MiBs", "4 Mi B", "1.5", "1. KiB", ".5 KiB", "1.2345678 MiB", "0x10",
          "4 MiB 2", "18446744073709551616", "16777216 TiB", "18014398509481984 KiB"})
        CHECK(is_refused(parse_size(bad), "4 MiB"));
    CHECK(is_refused(parse_size("4 parsecs"), "\"4 parsecs\""));
}

TEST_CASE("durations have a unit") {
    CHECK(*parse_duration("0") == 0ns);
    CHECK(*parse_duration("7ns") == 7ns);
    CHECK(*parse_duration("50 us") == 50us);
    CHECK(*parse_duration("50 µs") == 50us);
    CHECK(*parse_duration("3 ms") == 3ms);
    CHECK(*parse_duration("5 s") == 5s);
    CHECK(*parse_duration("0.5 s") == 500ms);
    CHECK(*parse_duration("2 min") == 120s);
    CHECK(*parse_duration("1 H") == 3600s);
    for (const char* bad :
         {"", "5", "s", "5 seconds", "-5 s", "5 us us", "9223372036854775808 ns", "2562048 h"})
        CHECK(is_refused(parse_duration(bad), "50 us"));
}

TEST_CASE("booleans are a few words") {
    for (const char* yes : {"true", "True", "yes", "on", "1"}) CHECK(*parse_boolean(yes));
    for (const char* no : {"false", "no", "OFF", "0"}) CHECK_FALSE(*parse_boolean(no));
    for (const char* bad : {"", "2", "maybe", "truee"}) CHECK(is_refused(parse_boolean(bad), "true"));
}

TEST_CASE("counts are whole numbers that fit") {
    CHECK(*parse_count("0") == 0);
    CHECK(*parse_count(" 18446744073709551615 ") == UINT64_MAX);
    for (const char* bad : {"", "-1", "1.0", "1e3", "four", "1 000"})
        CHECK(is_refused(parse_count(bad), "whole number"));
    CHECK(is_refused(parse_count("18446744073709551616"), "too large"));
}

TEST_CASE("lists drop spaces and empty pieces") {
    CHECK(split_list("a, b ,,c,") == std::vector<std::string>{"a", "b", "c"});
    CHECK(split_list("").empty());
    CHECK(split_list(" , ").empty());
}

TEST_CASE("numbers are written with the largest unit that divides them") {
    CHECK(size_text(0) == "0");
    CHECK(size_text(1000) == "1000");
    CHECK(size_text(64 << 10) == "64 KiB");
    CHECK(size_text(1536) == "1536");
    CHECK(size_text(3ull << 40) == "3 TiB");
    CHECK(duration_text(50us) == "50 us");
    CHECK(duration_text(1500us) == "1500 us");
    CHECK(duration_text(120s) == "2 min");
    for (const std::uint64_t bytes : {1ull, 1023ull, 1ull << 20, 5ull << 30})
        CHECK(*parse_size(size_text(bytes)) == bytes);
}

TEST_CASE("a value is checked against its key's type and range") {
    CHECK(check_value({"k", Type::skip_poll, "auto", ""}, "auto"));
    CHECK(check_value({"k", Type::skip_poll, "auto", ""}, "1"));
    for (const char* bad : {"0", "often", "-1", "4294967296", ""})
        CHECK(is_refused(check_value({"k", Type::skip_poll, "auto", ""}, bad), "auto"));

    const Key choice{"k", Type::choice, "allow", "", {"allow", "warn", "forbid"}};
    CHECK(check_value(choice, "warn"));
    CHECK(is_refused(check_value(choice, "never"), "allow, warn, forbid"));

    const Key ranged{"k", Type::size, "4 KiB", "", {}, 1024, 1 << 20};
    CHECK(check_value(ranged, "1 KiB"));
    CHECK(is_refused(check_value(ranged, "1023"), "1 KiB or more"));
    CHECK(is_refused(check_value(ranged, "2 MiB"), "1 MiB or less"));
    CHECK(check_value({"k", Type::text, "", ""}, "anything, at all"));
}

} // namespace values_test
