// SPDX-License-Identifier: BSD-3-Clause
// Descriptor tables as bytes: unknown methods pass unharmed, limits hold.
#include "golden/frames.h"
#include "hex.h"
#include "support/catch.h"
#include "wire/table.h"

namespace tables_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::wire;

namespace {

constexpr std::size_t kRows = 17; ///< where the number of rows stands, if no site does

Bytes one_row(std::size_t name, std::size_t descriptor) {
    DescriptorTable table;
    table.push_back({std::string(name, 'm'), Bytes(descriptor, std::byte{7}), {}});
    return encode_table(table);
}

} // namespace

TEST_CASE("a table comes back as it was, also the rows of methods that nobody knows") {
    const Bytes golden = bytes_of(golden::kDescriptors);
    const auto table = decode_table(golden);
    REQUIRE(table);
    REQUIRE(table->size() == 3);
    CHECK(table->place().site == "kiel");
    CHECK(table->place().host[0] == 0x10);
    CHECK(table->place().host[15] == 0x1f);
    CHECK((*table)[0] == Descriptor{"tcp", bytes_of("7f000001"), {}, "kiel,oslo"});
    CHECK((*table)[1] == Descriptor{"quantum2", bytes_of("00ff80"), {}});
    CHECK((*table)[2] == Descriptor{"local", {}, {}});
    CHECK(hex_of(encode_table(*table)) == plain(golden::kDescriptors));
}

TEST_CASE("what a table prescribes travels behind its rows") {
    const auto table = decode_table(bytes_of(golden::kPrescribed));
    REQUIRE(table);
    CHECK(table->prescribed() == "tcp?sndbuf=1");
    CHECK((*table)[0].parameters.empty());
    CHECK(hex_of(encode_table(*table)) == plain(golden::kPrescribed));
    const Bytes whole = bytes_of(golden::kPrescribed);
    const std::size_t without = whole.size() - 2 - table->prescribed().size();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK(decode_table(View(whole).first(size)).has_value() == (size == without));
    }
    Bytes more = whole;
    more.push_back({});
    CHECK_FALSE(decode_table(more));
}

TEST_CASE("a prescription has its limit, is not empty and has no characters that can't be printed") {
    const auto of = [](const std::string& prescribed) {
        DescriptorTable table;
        table.set_prescribed(prescribed);
        return decode_table(encode_table(table));
    };
    CHECK(of(std::string(kLongestPrescription, '~')));
    CHECK(of(" "));
    CHECK_FALSE(of(std::string(kLongestPrescription + 1, 't')));
    for (const char* bad : {"tcp\n", "\x1b[31m", "t\x7f", "kö"}) CHECK_FALSE(of(bad));
    CHECK_FALSE(decode_table(bytes_of("00 00000000000000000000000000000000 00 0000")));
}

TEST_CASE("parameters do not travel") {
    DescriptorTable table;
    table.push_back({"tcp", bytes_of("01"), {{"sndbuf", "4 MiB"}}});
    const auto back = decode_table(encode_table(table));
    REQUIRE(back);
    CHECK((*back)[0].parameters.empty());
}

TEST_CASE("a table that is cut off or too long is none") {
    const Bytes whole = bytes_of(golden::kDescriptors);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        CAPTURE(size);
        CHECK_FALSE(decode_table(part));
    }
    Bytes more = whole;
    more.push_back({});
    CHECK_FALSE(decode_table(more));
    CHECK(decode_table(bytes_of("00 00000000000000000000000000000000 00"))->empty());
}

TEST_CASE("the limits of a table are the limits") {
    CHECK(decode_table(one_row(kLongestMethodName, kLongestDescriptor)));
    CHECK_FALSE(decode_table(one_row(kLongestMethodName + 1, 1)));
    CHECK_FALSE(decode_table(one_row(1, kLongestDescriptor + 1)));
    CHECK_FALSE(decode_table(one_row(0, 1)));

    DescriptorTable full;
    for (std::size_t i = 0; i < DescriptorTable::kMaxRows; ++i) full.push_back({"m", {}, {}});
    Bytes bytes = encode_table(full);
    CHECK(decode_table(bytes)->size() == DescriptorTable::kMaxRows);
    bytes[kRows] = std::byte{DescriptorTable::kMaxRows + 1};
    for (const char c : {1, 0x6d, 0, 0, 0, 0})
        bytes.push_back(static_cast<std::byte>(c)); // the row that is too many
    CHECK_FALSE(decode_table(bytes));
}

TEST_CASE("a place and a boundary have their limits and no strange characters") {
    const auto of = [](const std::string& site, const std::string& within) {
        DescriptorTable table;
        table.set_place({site, {}});
        table.push_back({"m", {}, {}, within});
        return decode_table(encode_table(table));
    };
    CHECK(of(std::string(kLongestSiteName, 's'), std::string(kLongestWithin, 'w')));
    CHECK(of("Kiel-2.north_sea", "host"));
    CHECK(of("", ""));
    CHECK(of("kiel", "a, b"));
    CHECK_FALSE(of(std::string(kLongestSiteName + 1, 's'), ""));
    CHECK_FALSE(of("", std::string(kLongestWithin + 1, 'w')));
    for (const char* bad : {"a b", "a\nb", "\x1b[31m", "a,b", "kö"}) CHECK_FALSE(of(bad, ""));
    for (const char* bad : {"a\nb", "\x1b[31m", "\""}) CHECK_FALSE(of("", bad));
}

TEST_CASE("equal tables have equal numbers, others have others") {
    const Bytes bytes = bytes_of(golden::kDescriptors);
    CHECK(table_hash(bytes) == table_hash(Bytes(bytes)));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        Bytes other = bytes;
        other[i] ^= std::byte{1};
        CHECK(table_hash(other) != table_hash(bytes));
    }
    CHECK(table_hash({}) == 0xcbf29ce484222325ull); // FNV-1a of nothing
}

} // namespace tables_test
