// SPDX-License-Identifier: BSD-3-Clause
// Promise: a callback may send, connect and disconnect, and after a disconnect no callback
// names that link any more (the bare host watches).
#include "support/catch.h"
#include "support/stream.h"

namespace callbacks_test {

using namespace plexus::testing;

namespace {

std::shared_ptr<const Bytes> some_bytes(std::size_t size) {
    return std::make_shared<const Bytes>(content(9, size, size));
}

} // namespace

TEST_CASE("a message may be answered from inside deliver, ten thousand times to and fro") {
    constexpr int kRounds = kSanitized ? 1'000 : 10'000;
    const std::size_t size = at_most(GENERATE(std::size_t{8}, std::size_t{3'000}, std::size_t{100'000}));
    CAPTURE(size);
    Pair pair(method_under_test());
    const int rounds = size > 50'000 ? kRounds / 20 : kRounds;
    int at_a = 0;
    int refused = 0;
    const auto answer = [&](End& end, ByteView message) {
        if (!end.host.push(end, std::make_shared<Bytes>(message.begin(), message.end()))) ++refused;
    };
    pair.b.hooks.message = answer;
    pair.a.hooks.message = [&](End& end, ByteView message) {
        if (++at_a < rounds) answer(end, message);
    };
    REQUIRE(pair.a.push(*pair.to_b, some_bytes(size)));
    // A delay of the method may cost a time slice of each other process for every message.
    CHECK(pair.pump(120s, [&] { return at_a == rounds || refused > 0; }));
    CHECK(refused == 0);
}

TEST_CASE("a callback may connect, and its link works") {
    Pair pair(method_under_test());
    End* back = nullptr;
    int delivered = 0;
    pair.b.hooks.message = [&](End& end, ByteView) {
        back = end.host.connect(pair.a.descriptor(), end.peer);
    };
    pair.b.hooks.opened = [&](End& end) { end.host.push(end, some_bytes(100)); };
    pair.a.hooks.message = [&](End&, ByteView message) { delivered += message.size() == 100 ? 1 : 0; };
    REQUIRE(pair.a.push(*pair.to_b, some_bytes(10)));
    CHECK(pair.pump(10s, [&] { return delivered == 1; }));
    CHECK(back != nullptr);
}

TEST_CASE("a callback may disconnect the link that it is about") {
    Pair pair(method_under_test());
    int delivered = 0;
    pair.b.hooks.message = [&](End& end, ByteView) {
        ++delivered;
        end.host.disconnect(end);
    };
    for (int i = 0; i < 5; ++i) pair.a.push(*pair.to_b, some_bytes(10));
    CHECK(pair.pump(10s, [&] { return pair.to_b->is_lost(); }));
    CHECK(delivered == 1);
}

TEST_CASE("a callback may disconnect another link") {
    Pair pair(method_under_test());
    End* other_far = nullptr;
    End* other = link_up(pair.a, pair.b, &other_far);
    REQUIRE(other != nullptr);
    pair.b.hooks.message = [&](End& end, ByteView) { end.host.disconnect(*other_far); };
    pair.a.push(*other, some_bytes(10));
    pair.a.push(*pair.to_b, some_bytes(10));
    CHECK(pair.pump(10s, [&] { return other->is_lost(); }));
    CHECK(pair.to_b->is_open());
}

TEST_CASE("a disconnect is seen by the other side, after what was sent before it") {
    Pair pair(method_under_test());
    Receiver receiver(pair.b, always(2'000));
    Stream stream(*pair.to_b, always(2'000), 50);
    bool gone = false;
    CHECK(pair.pump(20s, [&] {
        if (!gone && stream.step()) {
            pair.a.disconnect(*pair.to_b);
            gone = true;
        }
        return pair.to_a->is_lost();
    }));
    CHECK(receiver.received() == 50);
    CHECK(receiver.fault() == "");
    CHECK(pair.to_a->lost_status() == PLEXUS_LINK_LOST);
}

TEST_CASE("a link that the host does not want is dropped, and its maker learns of it") {
    BareHost a(method_under_test());
    BareHost b(method_under_test());
    b.hooks.accepted = [](End&) { return std::int32_t{PLEXUS_DENIED}; };
    End* end = a.connect(b.descriptor(), b.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&a, &b}, 10s, [&] { return end->is_lost(); }));
    CHECK(b.incoming_count() == 0);
}

TEST_CASE("links come and go a thousand times") {
    constexpr int kTimes = kSanitized ? 100 : 1'000;
    BareHost a(method_under_test());
    BareHost b(method_under_test());
    b.hooks.message = [](End& end, ByteView message) {
        end.host.push(end, std::make_shared<Bytes>(message.begin(), message.end()));
    };
    int answered = 0;
    for (int i = 0; i < kTimes; ++i) {
        End* end = a.connect(b.descriptor(), b.id());
        REQUIRE(end != nullptr);
        REQUIRE(pump({&a, &b}, 10s, [&] { return end->is_open(); }));
        REQUIRE(a.push(*end, some_bytes(64)));
        REQUIRE(pump({&a, &b}, 10s, [&] { return end->take().has_value(); }));
        ++answered;
        if (i % 2 == 0) {
            a.disconnect(*end);
        } else {
            b.disconnect(*b.incoming().back());
        }
    }
    CHECK(answered == kTimes);
    CHECK(pump({&a, &b}, 10s,
               [&] { return a.query(PLEXUS_QUERY_LINKS) == 0 && b.query(PLEXUS_QUERY_LINKS) == 0; }));
}

} // namespace callbacks_test
