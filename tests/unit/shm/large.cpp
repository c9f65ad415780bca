// SPDX-License-Identifier: BSD-3-Clause
// The ways of larger messages, each forced by its parameters, and what a link holds.
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <cstring>

using namespace plexus::testing;

namespace {

const Method& shm() { return find_method("shm"); }

BareOptions with(std::map<std::string, std::string> settings) {
    BareOptions options;
    options.settings = std::move(settings);
    return options;
}

std::shared_ptr<const Bytes> numbered(std::size_t size, std::uint8_t first) {
    auto bytes = std::make_shared<Bytes>(size);
    for (std::size_t i = 0; i < size; ++i) (*bytes)[i] = static_cast<std::byte>(first + i * 7 + i / 251);
    return bytes;
}

// Sends, polling both sides while there is no room.
bool push(Pair& pair, const std::shared_ptr<const Bytes>& message, std::uint32_t pieces) {
    std::int32_t status = PLEXUS_AGAIN;
    return pair.pump(10s, [&] {
        status = pair.a.send(*pair.to_b, message, 24, pieces);
        return status != PLEXUS_AGAIN;
    }) && (status == PLEXUS_OK || status == PLEXUS_POSTED);
}

// A series of sizes, pieces and contents arrives as it was sent, in order.
void exchange(Pair& pair, std::initializer_list<std::size_t> sizes) {
    const std::uint64_t before = pair.to_a->received();
    std::uint8_t first = 0;
    for (const std::size_t size : sizes)
        for (const std::uint32_t pieces : {2u, 5u}) REQUIRE(push(pair, numbered(size, ++first), pieces));
    REQUIRE(pair.pump(20s, [&] { return pair.to_a->received() == before + 2 * sizes.size(); }));
    first = 0;
    for (const std::size_t size : sizes) {
        for (int i = 0; i < 2; ++i) {
            const auto message = pair.to_a->take();
            REQUIRE(message);
            REQUIRE(*message == *numbered(size, ++first));
        }
    }
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == pair.to_b->posted(); }));
}

} // namespace

TEST_CASE("messages that are streamed arrive whole, also when they are many areas long") {
    Pair pair(shm(), with({{"area", "64 KiB"}, {"eager", "4 KiB"}, {"cma", "off"}}));
    exchange(pair, {4'096, 4'097, 70'000, 1'000'003, 63, 3'000'000, 2'048, 2'049});
    CHECK(pair.to_a->placed() > 0);
}

TEST_CASE("messages that are fetched by cross-memory attach arrive whole") {
    Pair pair(shm(), with({{"cma_from", "1"}, {"eager", "64"}, {"inline", "56"}}));
    exchange(pair, {65, 100, 4'097, 70'000, 1'000'003, 63, 3'000'000});
    CHECK(pair.to_a->placed() > 0);
}

TEST_CASE("one that a receiver must not fetch is streamed") {
    Pair pair(shm(), with({{"cma_from", "1"}, {"eager", "64"}}), with({{"cma", "off"}}));
    exchange(pair, {70'000, 1'000'003});
}

TEST_CASE("more fetches than can be under way wait, and all arrive") {
    Pair pair(shm(), with({{"cma_from", "1"}, {"eager", "64"}, {"inline", "56"}}));
    constexpr std::uint64_t kMessages = 300;
    for (std::uint64_t i = 0; i < kMessages; ++i)
        REQUIRE(push(pair, numbered(500, static_cast<std::uint8_t>(i)), 2));
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == kMessages; }));
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == kMessages; }));
}

TEST_CASE("what is posted to a peer that goes is reported lost") {
    const char* const cma = GENERATE("off", "auto");
    Pair pair(shm(), with({{"cma", cma}, {"cma_from", "1"}, {"eager", "4 KiB"}, {"area", "64 KiB"}}));
    std::int32_t ended = PLEXUS_OK;
    pair.a.hooks.sent = [&](End&, std::int32_t status) { ended = status; };
    REQUIRE(pair.a.send(*pair.to_b, numbered(10'000'000, 1), 24, 2) == PLEXUS_POSTED);
    pair.b.disconnect(*pair.to_a);
    REQUIRE(pair.pump(10s, [&] { return pair.to_b->is_lost(); }));
    CHECK(ended == PLEXUS_MESSAGE_LOST);
    CHECK(pair.to_b->lost_why() == "the peer closed the link");
}

TEST_CASE("a small message is never posted, also where the peer has just gone") {
    Pair pair(shm(), with({{"inline", "56"}, {"cma_from", "8 MiB"}}));
    pair.b.destroy(); // which a has not polled for
    const auto small = numbered(4'000, 1);
    CHECK(pair.a.send(*pair.to_b, small, 24, 2) == PLEXUS_LINK_LOST);
    CHECK(pair.a.send(*pair.to_b, numbered(3'000'000, 1), 24, 2) == PLEXUS_LINK_LOST); // nor a stream
    CHECK(pump({&pair.a}, 10s, [&] { return pair.to_b->is_lost(); }));
}

TEST_CASE("what was accepted before a disconnect still arrives") {
    const char* const cma = GENERATE("off", "auto");
    Pair pair(shm(), with({{"cma", cma}, {"cma_from", "1"}, {"eager", "4 KiB"}, {"area", "64 KiB"}}));
    REQUIRE(push(pair, numbered(10, 1), 1));
    REQUIRE(push(pair, numbered(3'000, 2), 2));
    REQUIRE(push(pair, numbered(1'000'000, 3), 2));
    pair.a.disconnect(*pair.to_b);
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->is_lost(); }));
    CHECK(pair.to_a->received() == 3);
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == pair.to_b->posted(); }));
}

TEST_CASE("an idle link holds little, and gives a used area back") {
    Pair pair(shm(), with({{"area_idle", "10 ms"}}));
    const std::uint64_t idle = pair.a.query(PLEXUS_QUERY_SHARED_BYTES, pair.to_b);
    CHECK(idle <= 64 * 1024);
    REQUIRE(push(pair, numbered(500'000, 1), 2));
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
    CHECK(pair.to_a->take());
    CHECK(pair.a.query(PLEXUS_QUERY_SHARED_BYTES, pair.to_b) > 500'000);
    CHECK(pair.pump(10s, [&] { return pair.a.query(PLEXUS_QUERY_SHARED_BYTES, pair.to_b) == idle; }));
    exchange(pair, {300'000, 400'000}); // and takes it again
}

TEST_CASE("more busy links than are polled directly all get through") {
    BareHost hub(shm(), with({{"hot", "2"}}));
    constexpr std::size_t kPeers = 12;
    std::vector<std::unique_ptr<BareHost>> peers;
    std::vector<End*> ends;
    for (std::size_t i = 0; i < kPeers; ++i) {
        peers.push_back(std::make_unique<BareHost>(shm()));
        ends.push_back(link_up(*peers[i], hub));
        REQUIRE(ends[i] != nullptr);
    }
    constexpr std::uint64_t kRounds = 3'000;
    std::uint64_t received = 0;
    hub.hooks.message = [&](End&, ByteView) { ++received; };
    const auto message = numbered(32, 1);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        // Who is busy changes, so that hot links are exchanged on the way.
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t who = (round / 500 * 3 + i) % kPeers;
            while (peers[who]->send(*ends[who], message, 24, 2) == PLEXUS_AGAIN) {
                hub.poll();
                peers[who]->poll();
            }
        }
        hub.poll();
    }
    CHECK(eventually(10s, [&] {
        hub.poll();
        return received == kRounds * 4;
    }));
}

TEST_CASE("bad values are refused with what would be accepted") {
    const auto refused = [](const char* key, const char* value, const char* words) {
        const auto expected = expect_warning(std::string(key) + " = ");
        try {
            BareHost host(shm(), with({{key, value}}));
        } catch (const OpenFailed& failed) {
            return failed.status == PLEXUS_BAD_CONFIG &&
                   std::string(failed.what()).find(words) != std::string::npos;
        }
        return false;
    };
    CHECK(refused("ring", "5000", "a power of two"));
    CHECK(refused("eager", "2 GiB", "a size"));
    CHECK(refused("cma", "maybe", "auto, on or off"));
    CHECK(refused("hot", "0", "a whole number"));
}

TEST_CASE("parameters of a running link are changed, or the reason is said") {
    Pair pair(shm(), with({{"eager", "64 KiB"}}));
    std::string why;
    CHECK(pair.a.set(*pair.to_b, "cma", "off", &why) == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "eager", "128 KiB", &why) == PLEXUS_OK);
    // The host relies on no message being posted up to what the module says of all links.
    CHECK(pair.a.set(*pair.to_b, "eager", "4 KiB", &why) == PLEXUS_BAD_ARGUMENT);
    CHECK(why.find("from that of the method, 65536 bytes") != std::string::npos);
    CHECK(pair.a.set(*pair.to_b, "eager", "1 GiB", &why) == PLEXUS_BAD_ARGUMENT);
    CHECK(why.find("a quarter of `area`") != std::string::npos);
    CHECK(pair.a.set(*pair.to_b, "ring", "64 KiB", &why) == PLEXUS_UNSUPPORTED);
    CHECK(why.find("only when the method is opened") != std::string::npos);
    exchange(pair, {100'000, 1'000'000});
}
