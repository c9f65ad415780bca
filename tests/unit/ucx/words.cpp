// SPDX-License-Identifier: BSD-3-Clause
// Names, variables and what ends of links say to each other: reading trusts nothing.
#include "support/catch.h"
#include "ucx.h"

#include "ucx/names.h"
#include "ucx/options.h"
#include "ucx/wire.h"

using namespace plexus::testing;
namespace method = plexus::ucx;

TEST_CASE("a list of transports is read as UCX reads it") {
    CHECK(method::unknown_transport({"^tcp", "posix:aux", "\\rc_x"}).empty());
    CHECK(method::unknown_transport({"tcp", "nope"}) == "nope");
}

TEST_CASE("UCX's list of resources is read") {
    const auto read = method::parse_resources("# UCP context\n#      md 0  :  tcp\n"
                                              "#      resource 0  :  md 0  dev 0  flags -- tcp/eth0\n"
                                              "#      resource 1  :  md 1  dev 1  flags -- posix/memory  \n");
    REQUIRE(read.size() == 2);
    CHECK(read[0].transport == "tcp");
    CHECK(read[0].device == "eth0");
    CHECK(read[1].device == "memory");
}

TEST_CASE("variables are pairs with semicolons between") {
    const auto read = method::parse_variables(" UCX_A=1 ; B_2 = x,y;");
    REQUIRE(read.has_value());
    CHECK(*read == method::Variables{{"A", "1"}, {"B_2", "x,y"}});
    CHECK_FALSE(method::parse_variables("A").has_value());
    CHECK_FALSE(method::parse_variables("a=1").has_value());
}

TEST_CASE("a header is the same on both sides") {
    const method::Header header{0x1122334455667788, 77, 65'535, method::Kind::large, 64};
    std::array<std::uint8_t, method::Header::kBytes> bytes{};
    header.write(bytes.data());
    CHECK(bytes[0] == 0x88); // little-endian
    const auto read = method::Header::read(bytes.data());
    CHECK(read.token == header.token);
    CHECK(read.slot == header.slot);
    CHECK(read.number == header.number);
    CHECK(read.kind == header.kind);
    CHECK(read.head == header.head);
}

TEST_CASE("a word is believed whole and signed, or not at all") {
    BareHost host(ucx(), with({{"tls", "tcp"}}));
    method::Hello hello;
    hello.end = {3, 4};
    hello.descriptor = {1, 2, 3};
    hello.record[5] = 6;
    method::Bytes word = hello.write();
    const auto read = method::Hello::read(word);
    REQUIRE(read.has_value());
    CHECK(read->end.slot == 3);
    CHECK(read->end.token == 4);
    CHECK(read->descriptor == hello.descriptor);
    CHECK(read->record == hello.record);
    CHECK_FALSE(method::Hello::read(method::ByteView(word).first(20)).has_value());
    CHECK_FALSE(method::Answer::read(word).has_value());

    method::sign(host.table(), method::Kind::hello, word);
    REQUIRE(method::signed_part(host.table(), method::Kind::hello, word).has_value());
    CHECK_FALSE(method::signed_part(host.table(), method::Kind::answer, word).has_value());
    for (std::size_t at = 0; at < word.size(); ++at) {
        auto changed = word;
        changed[at] ^= 1;
        CHECK_FALSE(method::signed_part(host.table(), method::Kind::hello, changed).has_value());
    }
}
