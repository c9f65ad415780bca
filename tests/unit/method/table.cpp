// SPDX-License-Identifier: BSD-3-Clause
// The public descriptor table as a value.
#include "plexus/table.h"
#include "plexus/error.h"
#include "support/catch.h"

namespace table_test {

using namespace plexus;

namespace {

DescriptorTable table_of(std::initializer_list<const char*> methods) {
    DescriptorTable table;
    for (const char* method : methods) table.push_back({method, {}, {}});
    return table;
}

std::string methods_of(const DescriptorTable& table) {
    std::string all;
    for (const Descriptor& row : table) all += row.method;
    return all;
}

template <class Edit>
Status status_of(Edit&& edit) {
    try {
        edit();
        return Status::ok;
    } catch (const Error& error) { return error.status(); }
}

} // namespace

TEST_CASE("rows are inserted before a row or at the end") {
    DescriptorTable table = table_of({"a", "b"});
    table.insert(1, {"c", {}, {}});
    table.insert(0, {"d", {}, {}});
    table.insert(4, {"e", {}, {}});
    CHECK(methods_of(table) == "dacbe");
    CHECK(table.find("b") == 3u);
    CHECK_FALSE(table.find("x"));
}

TEST_CASE("moving a row keeps the order of the others, in both directions") {
    DescriptorTable table = table_of({"a", "b", "c", "d"});
    table.move(0, 2);
    CHECK(methods_of(table) == "bcad");
    table.move(3, 1);
    CHECK(methods_of(table) == "bdca");
    table.move(2, 2);
    CHECK(methods_of(table) == "bdca");
    table.move(0, 3);
    CHECK(methods_of(table) == "dcab");
}

TEST_CASE("preferred methods come first in their order, all their rows, the others behind") {
    DescriptorTable table;
    for (const char* method : {"a", "b", "c", "b", "d"})
        table.push_back({method, {std::byte(table.size())}, {}});
    table.prefer({"d", "x", "b"});
    CHECK(methods_of(table) == "dbbac");
    CHECK(table[1].bytes[0] < table[2].bytes[0]);
    table.prefer({});
    CHECK(methods_of(table) == "dbbac");
}

TEST_CASE("rows that are not there are an error and change nothing") {
    DescriptorTable table = table_of({"a", "b"});
    CHECK(status_of([&] { table.insert(3, {"c", {}, {}}); }) == Status::bad_argument);
    CHECK(status_of([&] { table.erase(2); }) == Status::bad_argument);
    CHECK(status_of([&] { table.move(0, 2); }) == Status::bad_argument);
    CHECK(status_of([&] { table.move(2, 0); }) == Status::bad_argument);
    CHECK(table == table_of({"a", "b"}));
    table.erase(0);
    CHECK(methods_of(table) == "b");
}

TEST_CASE("a table is full at its limit and says so") {
    DescriptorTable table;
    while (table.size() < DescriptorTable::kMaxRows) table.push_back({"a", {}, {}});
    CHECK(status_of([&] { table.push_back({"a", {}, {}}); }) == Status::bad_argument);
    CHECK(table.size() == DescriptorTable::kMaxRows);
}

TEST_CASE("the name of a method means all its rows, that of a row means the one") {
    DescriptorTable table = table_of({"a", "ab:x", "b:x", "b:y"});
    CHECK(table.find("b") == 2u);
    CHECK(table.find("b:y") == 3u);
    CHECK_FALSE(table.find("ab:y"));
    CHECK_FALSE(table.find("b:"));
    table.prefer({"b:y", "b"});
    CHECK(methods_of(table) == "b:yb:xaab:x");
}

} // namespace table_test
