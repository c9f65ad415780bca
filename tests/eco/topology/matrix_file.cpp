// SPDX-License-Identifier: BSD-3-Clause
// The plain matrix file: its grammar, and the line and host in every refusal.
#include "support/catch.h"

#include "plexus/eco/map.h"
#include "plexus/error.h"

#include <cmath>

namespace matrix_file_test {

using namespace plexus::eco;
using Catch::Matchers::Contains;

namespace {

/// What is wrong with it; empty: nothing.
std::string wrong(std::string_view text) {
    try {
        read_map(text, "net");
    } catch (const plexus::Error& error) {
        CHECK(error.status() == plexus::Status::bad_config);
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("a matrix with comments, blank lines, other line ends and missing costs is read") {
    const Map map = read_map(
        "# costs\n\n 3 a b\tc # names\r\n x 1.5 - # a\r\n1.5 0 2e1\n\n# between\n inf 20 nan\n", "net");
    CHECK(map.hosts() == std::vector<std::string>{"a", "b", "c"});
    CHECK(map.sizes_bytes() == std::vector<std::uint64_t>{0});
    const CostMatrix costs = map.matrix(0, Statistic::min, Symmetry::refuse);
    CHECK(costs(0, 1) == 1.5);
    CHECK(costs(1, 2) == 20);
    CHECK(costs(2, 0) == CostMatrix::kNotMeasured);
    CHECK(map.matrix(0, Statistic::p95) == map.matrix(0, Statistic::min));
    CHECK(read_map("1 alone\n-", "net").hosts().size() == 1);
    CHECK_FALSE(std::signbit(read_map("2 a b\n- -0\n-0 -\n", "net").cost(0, 0, 1).min_us));
}

TEST_CASE("a matrix that is read can be written as a map and read again, whatever its hosts are called") {
    const Map map =
        read_map("4 a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \"\\'\n"
                 "- 9.9e15 1e300 5e-324\n1 - 2 3\n9007199254740993 1 - 1\n0 1 -0 -\n",
                 "net");
    CHECK(read_map(to_toml(map), "net") == map);
}

TEST_CASE("every mistake in a matrix is named with its line and host") {
    const std::pair<const char*, const char*> cases[] = {
        {"", "net: the file is empty"},
        {" \n\n", "net: the file is empty"},
        {"0\n", "net:1: a matrix has 1 to 4096 hosts, not 0"},
        {"5000 a\n", "not 5000"},
        {"2.5 a b\n", "net:1: "},
        {"99999999999999999999999 a\n", "not 99999999999999999999999"},
        {"3 a b\n", "net:1: 3 hosts are announced and 2 are named"},
        {"2 a b c\n", "net:1: 2 hosts are announced and 3 are named"},
        {"2 a a\n0 1\n1 0\n", "net:1: the host a is there twice"},
        {"\n2 \xff\xc3\xa4 b\n0 1\n1 0\n", "net:2: the host \"\\xff\xc3\xa4\" is no text in UTF-8"},
        {"1 \xe4\n-\n", "net:1: the host \"\\xe4\" is no text in UTF-8"},          // cut off
        {"1 \xc0\xaf\n-\n", "net:1: the host \"\\xc0\\xaf\" is no text in UTF-8"}, // longer than needed
        {"1 \xed\xa0\x80\n-\n", "is no text in UTF-8"},                            // half of a pair
        {"1 \xf4\x90\x80\x80\n-\n", "is no text in UTF-8"},                        // beyond the last one
        {"2 a b\n0 1\n", "net:2: the file ends before the row of b: 1 of 2 rows are there"},
        {"2 a b\n0 1\n1\n", "net:3: the row of b has 1 numbers instead of 2"},
        {"2 a b\n0 1 2\n1 0\n", "net:2: the row of a has 3 numbers instead of 2"},
        {"2 a b\n0 1\n# c\n-1 0\n", "net:4: b to a: the cost -1 is negative"},
        {"2 a b\n0 one\n1 0\n", "net:2: a to b: \"one\" is no cost"},
        {"2 a b\n0 nan\n1 0\n", "\"nan\" is no cost"},
        {"2 a b\n0 -inf\n1 0\n", "\"-inf\" is no cost"},
        {"2 a b\n0 1e999\n1 0\n", "\"1e999\" is no cost"},
        {"2 a b\n0 1us\n1 0\n", "\"1us\" is no cost"},
        {"2 a b\n0 1\n1 0\n1 0\n", "net:4: there is more than the 2 rows of 2 hosts"},
    };
    for (const auto& [text, part] : cases) {
        INFO(text);
        CHECK_THAT(wrong(text), Contains(part));
    }
}

TEST_CASE("a file that begins with a number and an equals sign is a map with a key that no map has") {
    CHECK_THAT(wrong("3 = 4\n"), Contains("net:1: version is missing"));
    CHECK_THAT(wrong("3\n= 4\n"), Contains("net:1: 3 hosts are announced and 0 are named"));
}

TEST_CASE("a matrix cut off at any byte before its last number is refused or not symmetric") {
    const std::string text = "3 a b c\n- 10 20\n10 - 30\n20 30 -\n";
    for (std::size_t length = 0; length + 2 < text.size(); ++length) {
        INFO(text.substr(0, length));
        bool refused = false;
        try {
            read_map(text.substr(0, length), "net").matrix(0, Statistic::min, Symmetry::refuse);
        } catch (const plexus::Error&) { refused = true; }
        CHECK(refused);
    }
}

} // namespace matrix_file_test
