// SPDX-License-Identifier: BSD-3-Clause
// Promise: a link carries each message once, in order, unchanged, in both directions,
// whoever sends and however many links there are.
#include "support/catch.h"
#include "support/stream.h"

#include <cstring>
#include <thread>

namespace order_test {

using namespace plexus::testing;

namespace {
constexpr std::uint64_t kMany = kSanitized ? 2'000 : 20'000;
constexpr std::size_t kLarge = 300 * 1024;
} // namespace

TEST_CASE("messages of mixed sizes arrive once each and in order") {
    Pair pair(method_under_test());
    CHECK(carry(pair, mixed(at_most(kLarge)), kMany) == "");
}

TEST_CASE("small messages arrive once each and in order at full speed") {
    Pair pair(method_under_test());
    CHECK(carry(pair, always(32), kMany * 10) == "");
}

TEST_CASE("both directions of a link carry messages at once") {
    Pair pair(method_under_test());
    const SizeOf size_of = mixed(at_most(kLarge));
    Receiver at_a(pair.a, size_of);
    Receiver at_b(pair.b, size_of);
    Stream there(*pair.to_b, size_of, kMany / 2);
    Stream back(*pair.to_a, size_of, kMany / 2);
    CHECK(pair.pump(30s, [&] {
        there.step();
        back.step();
        return at_a.received() == kMany / 2 && at_b.received() == kMany / 2;
    }));
    CHECK(at_a.fault() == "");
    CHECK(at_b.fault() == "");
}

TEST_CASE("a link carries messages while other threads poll both ends") {
    Pair pair(method_under_test());
    const SizeOf size_of = mixed(at_most(kLarge));
    Receiver at_b(pair.b, size_of);
    Stream stream(*pair.to_b, size_of, kMany);
    const Poller a(pair.a);
    const Poller b(pair.b);
    CHECK(eventually(30s, [&] {
        stream.step();
        return at_b.received() == kMany;
    }));
    CHECK(at_b.fault() == "");
}

TEST_CASE("several threads send on several links at once") {
    constexpr std::size_t kThreads = 4;
    Pair pair(method_under_test());
    std::vector<End*> ends{pair.to_b};
    while (ends.size() < kThreads) ends.push_back(link_up(pair.a, pair.b));
    const SizeOf size_of = mixed(at_most(kLarge / 4));
    const std::uint64_t each = kMany / kThreads;
    Receiver at_b(pair.b, size_of);
    const Poller a(pair.a);
    const Poller b(pair.b);
    std::vector<std::uint8_t> finished(kThreads);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < kThreads; ++i)
            threads.emplace_back([&, i] {
                Stream stream(*ends[i], size_of, each);
                finished[i] = eventually(30s, [&] { return stream.step(); });
            });
    }
    CHECK(finished == std::vector<std::uint8_t>(kThreads, 1));
    CHECK(eventually(30s, [&] { return at_b.received() == kThreads * each; }));
    CHECK(at_b.fault() == "");
}

TEST_CASE("threads that share a link each keep their order") {
    constexpr std::uint32_t kThreads = 4;
    constexpr std::uint32_t kEach = kSanitized ? 500 : 5'000;
    Pair pair(method_under_test());
    std::vector<std::uint32_t> next(kThreads);
    std::atomic<std::uint32_t> received{0};
    std::atomic<std::uint32_t> wrong{0};
    pair.b.hooks.message = [&](End&, ByteView message) {
        std::uint32_t from = 0;
        std::uint32_t n = 0;
        if (message.size() >= 8) {
            std::memcpy(&from, message.data(), 4);
            std::memcpy(&n, message.data() + 4, 4);
        }
        if (message.size() < 8 || from >= kThreads || next[from]++ != n) ++wrong;
        ++received;
    };
    const Poller a(pair.a);
    const Poller b(pair.b);
    std::atomic<std::uint32_t> refused{0};
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t from = 0; from < kThreads; ++from)
            threads.emplace_back([&, from] {
                for (std::uint32_t n = 0; n < kEach; ++n) {
                    auto message = std::make_shared<Bytes>(8 + n % 500);
                    std::memcpy(message->data(), &from, 4);
                    std::memcpy(message->data() + 4, &n, 4);
                    const bool sent = eventually(20s, [&] {
                        const std::int32_t status = pair.a.send(*pair.to_b, message, 16, 2);
                        return status == PLEXUS_OK || status == PLEXUS_POSTED;
                    });
                    if (!sent) ++refused;
                }
            });
    }
    CHECK(refused == 0);
    CHECK(eventually(20s, [&] { return received == kThreads * kEach; }));
    CHECK(wrong == 0);
}

TEST_CASE("sixty-four contexts send to one at once") {
    constexpr std::size_t kPeers = kSanitized ? 16 : 64;
    constexpr std::uint64_t kEach = 100;
    BareHost hub(method_under_test());
    const SizeOf size_of = mixed(at_most(20'000));
    Receiver receiver(hub, size_of);
    std::vector<std::unique_ptr<BareHost>> peers;
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < kPeers; ++i) {
        peers.push_back(std::make_unique<BareHost>(method_under_test()));
        End* end = link_up(*peers.back(), hub);
        REQUIRE(end != nullptr);
        streams.emplace_back(*end, size_of, kEach);
    }
    CHECK(eventually(30s, [&] {
        for (Stream& stream : streams) stream.step();
        for (auto& peer : peers) peer->poll();
        hub.poll();
        return receiver.received() == kPeers * kEach;
    }));
    CHECK(receiver.fault() == "");
    for (const End* end : hub.incoming()) CHECK(receiver.received(*end) == kEach);
    CHECK(hub.query(PLEXUS_QUERY_LINKS) == kPeers);
}

TEST_CASE("two contexts that connect to each other at once get two links that work") {
    BareHost a(method_under_test());
    BareHost b(method_under_test());
    End* from_a = a.connect(b.descriptor(), b.id());
    End* from_b = b.connect(a.descriptor(), a.id());
    REQUIRE(from_a != nullptr);
    REQUIRE(from_b != nullptr);
    REQUIRE(pump({&a, &b}, 10s, [&] {
        return from_a->is_open() && from_b->is_open() && a.incoming_count() == 1 && b.incoming_count() == 1;
    }));
    Receiver at_a(a, always(100));
    Receiver at_b(b, always(100));
    Stream one(*from_a, always(100), 50);
    Stream two(*from_b, always(100), 50);
    CHECK(pump({&a, &b}, 10s, [&] {
        one.step();
        two.step();
        return at_a.received() == 50 && at_b.received() == 50;
    }));
    CHECK(at_a.fault() == "");
    CHECK(at_b.fault() == "");
}

TEST_CASE("each end knows who the other is") {
    Pair pair(method_under_test());
    CHECK(std::memcmp(pair.to_a->peer.bytes, pair.a.id().bytes, sizeof(plexus_id)) == 0);
}

TEST_CASE("a context links to itself") {
    BareHost host(method_under_test());
    Receiver receiver(host, always(1'000));
    End* end = link_up(host, host);
    REQUIRE(end != nullptr);
    Stream stream(*end, always(1'000), 100);
    CHECK(pump({&host}, 10s, [&] {
        stream.step();
        return receiver.received() == 100;
    }));
    CHECK(receiver.fault() == "");
}

} // namespace order_test
