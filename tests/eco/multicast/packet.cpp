// SPDX-License-Identifier: BSD-3-Clause
// Datagrams of a broadcast by multicast: what comes out is what went in, and nothing else comes in.
#include "multicast/packet.h"

#include "support/catch.h"

#include <algorithm>

namespace packet_test {

using namespace plexus;
using namespace plexus::eco::multicast;

namespace {

constexpr std::uint64_t kGroup = 0x1122334455667788;
const Key kKey{1, 2, 3};
const PacketHeader kHeader{kGroup, 7, 0xabcdef01, 3, 5, 6};

std::vector<std::byte> sealed(const PacketHeader& header, std::size_t bytes, const Key& key = kKey) {
    std::vector<std::byte> out;
    encode(header, std::vector<std::byte>(bytes, std::byte{9}), key, out);
    return out;
}

/// What a receiver takes: nothing that is not genuine.
std::optional<Packet> take(Bytes datagram, std::uint64_t group = kGroup, const Key& key = kKey) {
    const auto packet = parse(datagram, group);
    return is_genuine(datagram, key) ? packet : std::nullopt;
}

} // namespace

TEST_CASE("a datagram gives back its header and its data") {
    const std::size_t bytes = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{1400});
    const auto datagram = sealed(kHeader, bytes);
    CHECK(datagram.size() == bytes + kOverhead);
    const auto packet = take(datagram);
    REQUIRE(packet);
    CHECK(packet->header == kHeader);
    CHECK(packet->data.size() == bytes);
    CHECK(
        std::all_of(packet->data.begin(), packet->data.end(), [](std::byte b) { return b == std::byte{9}; }));
}

TEST_CASE("the bytes of a header are fixed") {
    const auto datagram = sealed(kHeader, 0);
    const std::uint8_t golden[] = {'P',  'L', 'M', '1', 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                   0x88, 0,   0,   0,   7,    0xab, 0xcd, 0xef, 0x01, 0,    0,
                                   0,    3,   0,   0,   0,    5,    0,    0,    0,    6};
    REQUIRE(sizeof golden == kHeaderBytes);
    const auto* const same = reinterpret_cast<const std::byte*>(golden);
    CHECK(std::equal(same, same + kHeaderBytes, datagram.begin()));
}

TEST_CASE("a datagram is refused if any byte of it is another, or its length is") {
    const auto datagram = sealed(kHeader, 20);
    for (std::size_t at = 0; at < datagram.size(); ++at) {
        auto forged = datagram;
        forged[at] ^= std::byte{1};
        CAPTURE(at);
        CHECK_FALSE(take(forged));
        CHECK_FALSE(take(std::span(datagram).first(at)));
    }
    auto longer = datagram;
    longer.push_back(std::byte{0});
    CHECK_FALSE(take(longer));
}

TEST_CASE("a datagram of another group, or by another key, is refused") {
    CHECK_FALSE(parse(sealed(kHeader, 20), kGroup + 1));
    CHECK_FALSE(take(sealed(kHeader, 20, Key{4})));
}

TEST_CASE("a datagram says what it is without its tag, and is not genuine for that") {
    const auto forged = sealed(kHeader, 20, Key{4});
    const auto packet = parse(forged, kGroup);
    REQUIRE(packet);
    CHECK(packet->header == kHeader);
    CHECK_FALSE(is_genuine(forged, kKey));
    CHECK_FALSE(is_genuine(std::span(forged).first(kTagBytes - 1), kKey));
}

TEST_CASE("a genuine datagram has a number below its count, or probes the path") {
    PacketHeader header = kHeader;
    header.sequence = header.count;
    CHECK_FALSE(parse(sealed(header, 1), kGroup));
    header.count = 0;
    CHECK(take(sealed(header, 0)));
}

} // namespace packet_test
