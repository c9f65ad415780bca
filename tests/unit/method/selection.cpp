// SPDX-License-Identifier: BSD-3-Clause
// Selection as a function of a table and of what holds here.
#include "method/selection.h"
#include "support/catch.h"

namespace selection_test {

using namespace plexus;
using namespace plexus::method;

namespace {

DescriptorTable table_of(std::initializer_list<const char*> methods) {
    DescriptorTable table;
    for (const char* method : methods) table.push_back({method, {}, {}});
    return table;
}

Applicable two_hosts(const Descriptor& row) {
    if (row.method == "shm") return {false, "other host"};
    if (row.method == "ucx") return {false, "no common fabric"};
    if (row.method == "tcp" || row.method == "udp") return {true, ""};
    return {};
}

} // namespace

TEST_CASE("the first row that applies is taken, and those behind it are not asked") {
    int asked = 0;
    const auto counted = [&](const Descriptor& row) {
        ++asked;
        return two_hosts(row);
    };
    const Choice choice = first_applicable(table_of({"ucx", "shm", "tcp", "udp"}), counted);
    CHECK(choice.row == 2u);
    CHECK(choice.trail.size() == 3);
    CHECK(asked == 3);
    CHECK(to_string(choice) == "ucx: no common fabric; shm: other host; tcp: applies (row 3)");
}

TEST_CASE("where no row applies every row has its reason") {
    const Choice choice = first_applicable(table_of({"shm", "pigeon"}), two_hosts);
    CHECK_FALSE(choice.row);
    CHECK(to_string(choice) == "shm: other host; pigeon: does not apply");
}

TEST_CASE("an empty table chooses nothing and says so") {
    const Choice choice = first_applicable({}, two_hosts);
    CHECK_FALSE(choice.row);
    CHECK(choice.trail.empty());
    CHECK(to_string(choice) == "the table is empty");
}

TEST_CASE("explain takes the same row and has a verdict on all of them") {
    const DescriptorTable table = table_of({"shm", "udp", "tcp", "ucx"});
    const Choice choice = explain(table, two_hosts);
    CHECK(choice.row == first_applicable(table, two_hosts).row);
    REQUIRE(choice.trail.size() == 4);
    CHECK(choice.trail[2].applies);
    CHECK(to_string(choice) ==
          "shm: other host; udp: applies (row 2); tcp: applies, but comes later; ucx: no common fabric");
}

TEST_CASE("a choice by somebody else's policy can be printed too") {
    CHECK(to_string(Choice{2, {}}) == "row 3");
    CHECK(to_string(Choice{0, {{"tcp", true, "least loaded"}}}) == "tcp: least loaded (row 1)");
}

} // namespace selection_test
