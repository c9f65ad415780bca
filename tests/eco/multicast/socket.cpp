// SPDX-License-Identifier: BSD-3-Clause
// Channels of members on the loopback interface: genuine datagrams come, others do not.
#include "multicast/channel.h"
#include "support/catch.h"
#include "support/eventually.h"

namespace socket_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::eco::multicast;

namespace {

constexpr std::uint64_t kGroup = 77;
constexpr std::chrono::seconds kLimit{5};

Key fresh_key() {
    Key key;
    crypto::fill_random(key.data(), key.size());
    return key;
}

const Interface& loopback() {
    static const Interface found = find_interface(kLoopback).value();
    return found;
}

Socket open_at(const Place& place) {
    std::string why;
    auto socket = Socket::open(place, loopback(), why);
    if (!socket) throw std::runtime_error(why);
    return std::move(*socket);
}

/// What a member gets of this call in a turn of its own.
std::optional<Packet> turn(Channel& member, std::uint32_t call) {
    Budget budget;
    return member.receive(call, budget);
}

std::optional<std::uint32_t> probe_turn(Channel& member) {
    Budget budget;
    return member.receive_probe(budget);
}

struct Pair {
    Key key = fresh_key();
    Place place = place_of(key);
    Agreement agreed{1000, 8, 0};
    Channel one{open_at(place), key, kGroup, 0, agreed};
    Channel other{open_at(place), key, kGroup, 1, agreed};
    std::vector<std::byte> data{std::vector<std::byte>(1000, std::byte{5})};

    /// What `other` gets of this call.
    std::optional<Packet> take(std::uint32_t call) {
        std::optional<Packet> packet;
        eventually(kLimit, [&] { return (packet = turn(other, call)).has_value(); });
        return packet;
    }
};

} // namespace

TEST_CASE("a place is in the administratively scoped range and among the private ports") {
    for (int i = 0; i < 100; ++i) {
        const Place place = place_of(fresh_key());
        CHECK(place.address >> 16 == (239u << 8 | 255u));
        CHECK(place.port >= 49152);
        CHECK(place.port <= 65535);
    }
    CHECK(to_string(place_of(Key{})) == "239.255.104.102 port 60794"); // SHA-256 of zeros: 66 68 7a ad …
    CHECK(to_string(Place{kLoopback, 7}) == "127.0.0.1 port 7");
}

TEST_CASE("a socket that the system refuses says what can be done") {
    std::string why;
    const Interface nowhere{0x01020304, 0xffffff00, 1500};
    CHECK_FALSE(Socket::open(place_of(fresh_key()), nowhere, why));
    CHECK(why.find("Set eco.multicast_interface") != std::string::npos);
}

TEST_CASE("a datagram carries what fits into a packet") {
    CHECK(payload_bytes({0, 0, 1500}) == 1500 - 28 - kOverhead);
    CHECK(payload_bytes({0, 0, 65536}) == 32768);
    CHECK(payload_bytes({0, 0, 0}) == 400);
}

TEST_CASE("a socket has room for as many datagrams as it says") {
    const Place place = place_of(fresh_key());
    const Socket from = open_at(place);
    const Socket to = open_at(place);
    const std::vector<std::byte> datagram(1'000);
    const std::uint32_t room = to.room_for(datagram.size());
    for (std::uint32_t i = 0; i < room; ++i) REQUIRE(from.send(datagram));
    std::vector<std::byte> received(datagram.size());
    std::uint32_t came = 0;
    CHECK(eventually(kLimit, [&] {
        while (to.receive(received)) ++came;
        return came == room;
    }));
}

TEST_CASE("a datagram without a byte is one, and not the last that waits") {
    const Place place = place_of(fresh_key());
    const Socket from = open_at(place);
    const Socket to = open_at(place);
    REQUIRE(from.send({}));
    REQUIRE(from.send(std::vector<std::byte>(1)));
    std::vector<std::byte> room(10);
    for (const std::size_t bytes : {0u, 1u}) {
        std::optional<Bytes> got;
        REQUIRE(eventually(kLimit, [&] { return (got = to.receive(room)).has_value(); }));
        CHECK(got->size() == bytes);
    }
}

TEST_CASE("addresses are read and written") {
    CHECK(parse_address("127.0.0.1") == kLoopback);
    CHECK(to_string(kLoopback) == "127.0.0.1");
    CHECK_FALSE(parse_address("lo"));
    CHECK_FALSE(parse_address(""));
    CHECK(loopback().is_loopback());
    CHECK_FALSE(find_interface(0x01020304));
}

TEST_CASE("a member hears the others and, of its own datagrams, the probes alone") {
    Pair pair;
    REQUIRE(pair.one.send({0, 3, 9, 0, 0, 2}, pair.data));
    REQUIRE(pair.one.send({}, {}));
    const auto packet = pair.take(3);
    REQUIRE(packet);
    CHECK(packet->header == PacketHeader{kGroup, 3, 9, 0, 0, 2});
    CHECK(packet->data.size() == 1000);
    CHECK(eventually(kLimit, [&] { return probe_turn(pair.one) == 0u; }));
    CHECK_FALSE(turn(pair.one, 3));
}

TEST_CASE("datagrams of a later call are kept, those of earlier ones are dropped") {
    const std::uint32_t last = GENERATE(5u, UINT32_MAX); // the numbers of calls start again
    Pair pair;
    for (const std::uint32_t call : {last + 1, last - 1, last})
        REQUIRE(pair.one.send({0, call, 0, 0, 0, 1}, pair.data));
    const auto now = pair.take(last);
    REQUIRE(now);
    CHECK(now->header.call == last);
    CHECK_FALSE(turn(pair.other, last));
    const auto later = pair.take(last + 1);
    REQUIRE(later);
    CHECK(later->header.call == last + 1);
    CHECK(later->data.size() == 1000);
}

TEST_CASE("what is kept for later calls is bounded") {
    Pair pair;
    for (int i = 0; i < 3'000; ++i) {
        REQUIRE(pair.one.send({0, 2, 0, 0, static_cast<std::uint32_t>(i), 3'000}, pair.data));
        (void)turn(pair.other, 1);
    }
    int kept = 0;
    while (turn(pair.other, 2)) ++kept;
    CHECK(kept > 0);
    CHECK(kept <= (1 << 20) / 1000);
}

TEST_CASE("datagrams that came for several later calls are given call by call") {
    Pair pair;
    for (const std::uint32_t call : {4u, 2u, 3u}) REQUIRE(pair.one.send({0, call, 0, 0, 0, 1}, pair.data));
    CHECK_FALSE(turn(pair.other, 1));
    for (const std::uint32_t call : {2u, 3u, 4u}) {
        const auto packet = pair.take(call);
        REQUIRE(packet);
        CHECK(packet->header.call == call);
    }
}

TEST_CASE("what was kept makes room when its call has come") {
    Pair pair;
    for (std::uint32_t call = 1; call < 1'200; ++call) { // more bytes than are kept at once
        REQUIRE(pair.one.send({0, call + 1, 0, 0, 0, 1}, pair.data));
        REQUIRE_FALSE(turn(pair.other, call));
        REQUIRE(pair.take(call + 1));
    }
}

TEST_CASE("datagrams of strangers, of other groups, and too large ones are dropped") {
    Pair pair;
    const Socket any = open_at(pair.place);
    std::vector<std::byte> out;
    const auto put = [&](std::uint64_t group, std::size_t bytes, const Key& key) {
        encode({group, 3, 0, 0, 0, 1}, std::vector<std::byte>(bytes), key, out);
        REQUIRE(any.send(out));
    };
    put(kGroup, 10, fresh_key());
    put(kGroup + 1, 10, pair.key);
    put(kGroup, 5'000, pair.key); // more than a datagram of this group has
    REQUIRE(any.send(std::vector<std::byte>(1)));
    REQUIRE(any.send({}));
    put(kGroup, 10, pair.key);
    const auto packet = pair.take(3);
    REQUIRE(packet);
    CHECK(packet->data.size() == 10);
    CHECK_FALSE(turn(pair.other, 3));
}

TEST_CASE("what a datagram says of itself decides whether a member wants it") {
    const Pair pair;
    const std::uint32_t call = GENERATE(7u, UINT32_MAX);
    const auto wanted = [&](const PacketHeader& header) {
        return pair.other.is_wanted({header, pair.data}, call);
    };
    CHECK(wanted({kGroup, call, 0, 0, 0, 1}));
    CHECK(wanted({kGroup, call + 1, 0, 0, 0, 1}));
    CHECK_FALSE(wanted({kGroup, call - 1, 0, 0, 0, 1}));
    CHECK_FALSE(wanted({kGroup, call, 0, 1, 0, 1})); // its own
    CHECK_FALSE(wanted({kGroup, call, 0, 0, 0, 0})); // a probe
    const std::vector<std::byte> large(1001);
    CHECK_FALSE(pair.other.is_wanted({{kGroup, call, 0, 0, 0, 1}, large}, call));
}

TEST_CASE("forged datagrams of a later call take no room from genuine ones") {
    Pair pair;
    const Socket any = open_at(pair.place);
    std::vector<std::byte> out;
    for (std::uint32_t i = 0; i < 3'000; ++i) {
        encode({kGroup, 2, 0, 0, i, 3'000}, pair.data, fresh_key(), out);
        REQUIRE(any.send(out));
        (void)turn(pair.other, 1);
    }
    REQUIRE(pair.one.send({0, 2, 0, 0, 0, 1}, pair.data));
    (void)turn(pair.other, 1);
    const auto packet = pair.take(2);
    REQUIRE(packet);
    CHECK(packet->header.count == 1);
}

TEST_CASE("a turn is over after so many datagrams, whoever sent them") {
    Pair pair;
    const Socket any = open_at(pair.place);
    std::vector<std::byte> forged;
    encode({kGroup, 3, 0, 0, 0, 1}, pair.data, fresh_key(), forged);
    for (std::uint32_t i = 0; i < Budget::kDatagrams + 1; ++i) REQUIRE(any.send(forged));
    REQUIRE(pair.one.send({0, 3, 0, 0, 0, 1}, pair.data));
    Budget budget;
    for (std::uint32_t sent = 0; sent + 1 < Budget::kDatagrams; ++sent) REQUIRE(budget.take());
    CHECK_FALSE(pair.other.receive(3, budget)); // one is looked at
    CHECK_FALSE(budget.take());
    CHECK_FALSE(turn(pair.other, 3)); // the others that are forged
    CHECK(pair.take(3));
}

TEST_CASE(
    "a member that sends has room for datagrams of others: neither its own nor other groups' come to it") {
    Pair pair;
    if (!open_at(pair.place).keep_out(kGroup, 9)) SKIP_TEST("this system permits no filter on a socket");
    Channel another_group(open_at(pair.place), pair.key, kGroup + 1, 2, pair.agreed);
    for (std::uint32_t i = 0; i < 5'000; ++i) {
        REQUIRE(pair.one.send({0, 1, 0, 0, i, 5'000}, pair.data));
        REQUIRE(another_group.send({0, 1, 0, 0, i, 5'000}, pair.data));
    }
    REQUIRE(pair.other.send({0, 1, 0, 0, 0, 1}, pair.data));
    std::optional<Packet> packet;
    CHECK(eventually(kLimit, [&] { return (packet = turn(pair.one, 1)).has_value(); }));
    CHECK(packet->header.sender == 1);
}

TEST_CASE("a message is cut into datagrams, an empty one into one") {
    Pair pair;
    CHECK(pair.one.count_of(0) == 1);
    CHECK(pair.one.count_of(1) == 1);
    CHECK(pair.one.count_of(1000) == 1);
    CHECK(pair.one.count_of(1001) == 2);
    const std::vector<std::byte> data(2001);
    const std::span<const std::byte> all(data);
    CHECK(pair.one.part(all, 1).size() == 1000);
    CHECK(pair.one.part(all, 2).size() == 1);
    CHECK(pair.one.part(all, 3).empty());
    CHECK(pair.one.part(all.first(0), 0).empty());
}

} // namespace socket_test
