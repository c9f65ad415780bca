// SPDX-License-Identifier: BSD-3-Clause
// The ways of larger messages, each forced by its parameters, and what a link holds.
#include "parts.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <csignal>
#include <deque>

namespace large_test {

using namespace plexus::testing;

namespace {

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

// A host that polls `hot` of its links directly, and peers that send to it.
struct Hub {
    Hub(const char* hot, std::size_t count)
      : host(shm(), with({{"hot", hot}})) {
        for (std::size_t i = 0; i < count; ++i) {
            peers.push_back(std::make_unique<BareHost>(shm()));
            ends.push_back(link_up(*peers[i], host));
            REQUIRE(ends[i] != nullptr);
        }
        host.hooks.message = [this](End&, ByteView) { ++received; };
    }
    void send(std::size_t who) {
        ++sent;
        REQUIRE(eventually(10s, [&] {
            if (peers[who]->send(*ends[who], message, 24, 2) != PLEXUS_AGAIN) return true;
            host.poll();
            peers[who]->poll();
            return false;
        }));
    }
    bool receives_all() {
        return pump({&host}, 10s, [&] { return received == sent; });
    }

    const std::shared_ptr<const Bytes> message = numbered(32, 1);
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    BareHost host;
    std::vector<std::unique_ptr<BareHost>> peers;
    std::vector<End*> ends;
};

} // namespace

TEST_CASE("messages that are streamed arrive whole, also when they are many areas long") {
    Pair pair(shm(), with({{"area", "64 KiB"}, {"eager", "4 KiB"}, {"cma", "off"}}));
    exchange(pair, {4'096, 4'097, 70'000, 1'000'003, 63, 3'000'000, 2'048, 2'049});
    CHECK(pair.to_a->placed() > 0);
}

TEST_CASE("messages that are streamed through a large area arrive whole") {
    Pair pair(shm(), with({{"area", "1 GiB"}, {"eager", "4 KiB"}, {"cma", "off"}}));
    exchange(pair, {4'097, 1'000'003, 5'000'000});
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

TEST_CASE("sixty-four fetches can be under way, more wait, and all arrive in order") {
    Pair pair(shm(), with({{"cma_from", "1"}, {"eager", "64"}, {"inline", "56"}, {"ring", "64 KiB"}}));
    constexpr std::uint64_t kMessages = 300;
    std::uint64_t sent = 0;
    while (sent < kMessages) {
        // Nobody polls meanwhile: it is the number that turns the sender away, not the ring.
        const auto message = numbered(500 + sent, static_cast<std::uint8_t>(sent));
        const std::int32_t status = pair.a.send(*pair.to_b, message, 24, 2);
        if (status == PLEXUS_POSTED) {
            ++sent;
            CHECK(sent - pair.to_b->completed() <= 64);
            continue;
        }
        REQUIRE(status == PLEXUS_AGAIN);
        REQUIRE(sent - pair.to_b->completed() == 64);
        const std::uint64_t told = pair.to_b->writable();
        if (sent == 64) { // nothing was fetched yet
            for (int i = 0; i < 1'000; ++i) pair.a.poll();
            REQUIRE(pair.to_b->writable() == told);
        }
        REQUIRE(pair.pump(10s, [&] { return pair.to_b->writable() > told; }));
    }
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == kMessages; }));
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == kMessages; }));
    for (std::uint64_t i = 0; i < kMessages; ++i) {
        const auto message = pair.to_a->take();
        REQUIRE(message);
        REQUIRE((*message == *numbered(500 + i, static_cast<std::uint8_t>(i))));
    }
}

TEST_CASE(
    "what is sent from inside a callback, of any size, is posted or refused with a call of writable later") {
    const char* const cma = GENERATE("off", "auto");
    CAPTURE(cma);
    Pair pair(shm(), with({{"cma", cma}, {"cma_from", "2 MiB"}, {"area", "64 KiB"}}),
              with({{"cma", cma}, {"cma_from", "2 MiB"}, {"area", "64 KiB"}, {"eager", "4 KiB"}}));
    const auto reply_to = [](std::uint64_t n) { // below eager, streamed, fetched
        constexpr std::size_t kSizes[] = {100, 4'000, 20'000, 3'000'000};
        return numbered(kSizes[n % 4], static_cast<std::uint8_t>(n));
    };
    std::deque<std::uint64_t> due; // replies that were answered with AGAIN, in order
    std::uint64_t asked = 0;
    const auto flush = [&](End& end) {
        while (!due.empty()) {
            const std::int32_t status = pair.b.send(end, reply_to(due.front()), 24, 2);
            if (status == PLEXUS_AGAIN) return;
            if (status != PLEXUS_OK && status != PLEXUS_POSTED) report_violation("a reply was dropped");
            due.pop_front();
        }
    };
    pair.b.hooks.message = [&](End& end, ByteView) {
        due.push_back(asked++);
        if (due.size() == 1) flush(end); // the others wait for `writable`
    };
    pair.b.hooks.writable = flush;
    constexpr std::uint64_t kRequests = 60;
    for (std::uint64_t i = 0; i < kRequests; ++i) REQUIRE(pair.a.push(*pair.to_b, numbered(32, 1)));
    REQUIRE(pair.pump(20s, [&] { return pair.to_b->received() == kRequests; }));
    for (std::uint64_t i = 0; i < kRequests; ++i) REQUIRE((pair.to_b->take() == *reply_to(i)));
    CHECK(pair.pump(10s, [&] { return pair.to_a->completed() == pair.to_a->posted(); }));
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

// A sleeper that wakes asks the kernel first: the end is there before it has looked at the ring.
TEST_CASE("what was sent before a process or context ends is delivered to one that slept, before the end") {
    Pair pair(shm());
    std::uint64_t sleep_ns = UINT64_MAX;
    REQUIRE(pair.pump(10s, [&] { return pair.b.arm(&sleep_ns) == PLEXUS_OK; }));
    for (std::uint8_t i = 0; i < 100; ++i)
        REQUIRE(pair.a.send(*pair.to_b, numbered(i % 20 == 0 ? 1'000 : 30, i), 24, 2) == PLEXUS_OK);
    pair.a.destroy(); // without a goodbye, as a process that is killed
    REQUIRE(pump({&pair.b}, 10s, [&] { return pair.to_a->is_lost(); }));
    CHECK(pair.to_a->received() == 100);
    CHECK(pair.to_a->lost_why() == "the peer's process ended");
}

TEST_CASE("a context with a hot link does not fall asleep while a posted send of it is over, or there is "
          "room again") {
    Pair pair(shm(), with({{"cma_from", "1"}, {"eager", "64"}, {"inline", "56"}}));
    std::uint64_t sleep_ns = UINT64_MAX;
    REQUIRE(pair.a.send(*pair.to_b, numbered(500, 1), 24, 2) == PLEXUS_POSTED);
    REQUIRE(pair.pump(10s, [&] { return pair.to_b->completed() == 1; })); // a polls the link directly by now
    SECTION("a send is over") {
        REQUIRE(pair.a.send(*pair.to_b, numbered(500, 1), 24, 2) == PLEXUS_POSTED);
        REQUIRE(pump({&pair.b}, 10s, [&] { return pair.to_a->received() == 2; }));
        CHECK(pair.a.arm(&sleep_ns) == PLEXUS_AGAIN);
        pair.a.poll();
        CHECK(pair.to_b->completed() == 2);
    }
    SECTION("there is room") {
        while (pair.a.send(*pair.to_b, numbered(8, 1), 8, 1) == PLEXUS_OK) {}
        const std::uint64_t told = pair.to_b->writable();
        pair.a.poll();
        REQUIRE(pair.to_b->writable() == told);
        for (int i = 0; i < 100; ++i) pair.b.poll();
        CHECK(pair.a.arm(&sleep_ns) == PLEXUS_AGAIN);
        pair.a.poll();
        CHECK(pair.to_b->writable() == told + 1);
    }
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
    constexpr std::size_t kPeers = 12;
    constexpr std::uint64_t kRounds = 3'000;
    Hub hub("2", kPeers);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        // Who is busy changes, so that hot links are exchanged on the way.
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t who = (round / 500 * 3 + i) % kPeers;
            hub.send(who);
        }
        hub.host.poll();
    }
    CHECK(hub.receives_all());
}

TEST_CASE("a link that is polled directly no more rings the doorbell again") {
    constexpr std::size_t kPeers = 3;
    Hub hub("1", kPeers);
    for (std::size_t busy = 0; busy < kPeers; ++busy) { // each in turn takes the place of the one before
        for (int i = 0; i < 20'000; ++i) {
            hub.send(busy);
            hub.host.poll();
        }
        for (std::size_t i = 0; i < kPeers; ++i) hub.send(i);
        CHECK(hub.receives_all());
    }
}

TEST_CASE("a host may have more links one after the other than at a time") {
    constexpr int kLinks = 4'096 + 8; // a mailbox has so many bits, and some more
    BareHost from(shm(), with({{"ring", "4 KiB"}}));
    BareHost to(shm());
    for (int i = 0; i < kLinks; ++i) {
        End* const end = link_up(from, to);
        REQUIRE(end != nullptr);
        from.disconnect(*end);
        REQUIRE(pump({&from, &to}, 10s, [&] {
            return from.query(PLEXUS_QUERY_LINKS) == 0 && to.query(PLEXUS_QUERY_LINKS) == 0;
        }));
    }
}

TEST_CASE("a host whose shared area is in use wakes in time to give it back, and others need not wake") {
    Pair pair(shm(), with({{"area_idle", "10 s"}}));
    const auto longest = [&](BareHost& host) {
        std::uint64_t sleep_ns = UINT64_MAX;
        CHECK(eventually(5s, [&] {
            host.poll();
            sleep_ns = UINT64_MAX;
            return host.arm(&sleep_ns) == PLEXUS_OK;
        }));
        return sleep_ns;
    };
    CHECK(longest(pair.a) > 10'000'000'000);
    REQUIRE(push(pair, numbered(500'000, 1), 2));
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
    CHECK(longest(pair.a) <= 10'000'000'000);
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

TEST_CASE("what a stopped peer does not fetch keeps a link that was given up no longer than linger") {
    Process remote([](Channel& channel) {
        BareHost host(shm());
        introduce(host, channel);
        (void)pump({&host}, 60s, [] { return false; }); // until it is stopped, and killed
        return 0;
    });
    BareHost host(shm(), with({{"linger", "200 ms"}, {"area", "64 KiB"}, {"eager", "4 KiB"}}));
    End* const end = meet(host, remote.channel());
    REQUIRE(end != nullptr);
    remote.kill(SIGSTOP);
    REQUIRE(host.send(*end, numbered(3'000'000, 1), 24, 2) == PLEXUS_POSTED);
    const auto expected = expect_warning("has not fetched them within linger");
    const auto start = std::chrono::steady_clock::now();
    host.disconnect(*end);
    REQUIRE(pump({&host}, 10s, [&] { return end->completed() == 1 && host.query(PLEXUS_QUERY_LINKS) == 0; }));
    CHECK(std::chrono::steady_clock::now() - start >= 200ms); // until then the peer may go on
}

} // namespace large_test
