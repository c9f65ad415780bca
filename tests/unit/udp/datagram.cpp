// SPDX-License-Identifier: BSD-3-Clause
// What a datagram looks like, and how large a message may be in one.
#include "udp/datagram.h"

#include "plexus/module/handshake.h"
#include "support/catch.h"

#include <array>
#include <vector>

namespace datagram_test {

using namespace plexus::udp;
using plexus::module::Handshake;

namespace {

std::vector<std::uint8_t> written(const Header& header, std::size_t rest) {
    std::vector<std::uint8_t> bytes(Header::kBytes + rest);
    encode(header, bytes.data());
    return bytes;
}

} // namespace

TEST_CASE("a header is these bytes") {
    const std::vector<std::uint8_t> expected{4, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    CHECK(written({Kind::sealed, 0x01020304, 0x05060708090a0b0c}, 0) == expected);
}

TEST_CASE("each kind is read with the size that it has, and with no other") {
    const std::pair<Kind, std::size_t> kinds[] = {{Kind::hello, Handshake::kHelloBytes},
                                                  {Kind::answer, Handshake::kAnswerBytes},
                                                  {Kind::confirm, Handshake::kConfirmBytes}};
    for (const auto& [kind, rest] : kinds) {
        const auto read = decode(written({kind, 7, 9}, rest));
        REQUIRE(read);
        CHECK(read->header.kind == kind);
        CHECK(read->header.to == 7);
        CHECK(read->header.number == 9);
        CHECK(read->rest.size() == rest);
        CHECK(!decode(written({kind, 7, 9}, rest - 1)));
        CHECK(!decode(written({kind, 7, 9}, rest + 1)));
    }
    CHECK(!decode(written({Kind::sealed, 7, 9}, kTagBytes)));
    CHECK(decode(written({Kind::sealed, 7, 9}, kTagBytes + 1)));
    CHECK(!decode(written({static_cast<Kind>(5), 7, 9}, 100)));
    CHECK(!decode(written({static_cast<Kind>(0), 7, 9}, 100)));
}

TEST_CASE("another version, and bytes that have to be zero, are refused") {
    for (const std::size_t at : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
        auto bytes = written({Kind::sealed, 7, 9}, 100);
        bytes[at] = static_cast<std::uint8_t>(bytes[at] + 1);
        CHECK(!decode(bytes));
    }
    for (std::size_t size = 0; size < Header::kBytes; ++size)
        CHECK(!decode(std::vector<std::uint8_t>(size, 1)));
}

TEST_CASE("a message fits into one packet of the path") {
    CHECK(most_message(1500, true) == 1500 - 28 - 33);
    CHECK(most_message(1500, false) == 1500 - 48 - 33);
    CHECK(most_message(65536, true) == 65507 - 33);
    CHECK(most_message(61, true) == 0);
    CHECK(most_message(0, false) == 0);
}

} // namespace datagram_test
