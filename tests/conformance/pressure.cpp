// SPDX-License-Identifier: BSD-3-Clause
// Promise: a sender that outruns its receiver is told AGAIN before memory runs out, and
// `writable` when to repeat; nothing is lost by it. Buffers are the sender's again after
// OK, and after `sent` for what was posted.
#include "support/arguments.h"
#include "support/catch.h"
#include "support/stream.h"

#include <algorithm>
#include <cstring>

namespace pressure_test {

using namespace plexus::testing;

namespace {

// Sends to somebody who does not poll until the module says AGAIN; how many went.
std::uint64_t fill(Pair& pair, Stream& stream, std::uint64_t most) {
    while (stream.again() == 0 && !stream.done() && stream.sent() < most) {
        const std::uint64_t before = stream.sent();
        stream.step();
        pair.a.poll();
        if (stream.sent() == before) break;
    }
    return stream.sent();
}

} // namespace

TEST_CASE("a sender whose receiver does not poll is told AGAIN, and nothing is lost") {
    const std::size_t size = at_most(GENERATE(std::size_t{8}, std::size_t{1'000}, std::size_t{20'000}));
    CAPTURE(size);
    const std::uint64_t more_than_any_queue = (std::size_t{128} << 20) / (size + 64);
    Pair pair(method_under_test());
    Receiver receiver(pair.b, always(size));
    Stream stream(*pair.to_b, always(size), more_than_any_queue);
    const std::uint64_t sent = fill(pair, stream, more_than_any_queue);
    CHECK(sent < more_than_any_queue);

    CHECK(pair.pump(20s, [&] { return stream.step() || stream.sent() >= sent + 1'000; }));
    CHECK(stream.failure() == PLEXUS_OK);
    CHECK(pair.pump(20s, [&] { return receiver.received() == stream.sent(); }));
    CHECK(receiver.fault() == "");
}

TEST_CASE("large messages to a receiver that does not poll are bounded in number") {
    constexpr int kMost = 20'000;
    Pair pair(method_under_test());
    const auto message = std::make_shared<const Bytes>(content(1, 1, at_most(256 * 1024)));
    int accepted = 0;
    std::int32_t status = PLEXUS_OK;
    while (accepted < kMost && (status == PLEXUS_OK || status == PLEXUS_POSTED)) {
        status = pair.a.send(*pair.to_b, message, 32, 2);
        if (status != PLEXUS_AGAIN) ++accepted;
        if (accepted % 16 == 0) pair.a.poll();
    }
    CHECK(status == PLEXUS_AGAIN);
    std::uint64_t right = 0;
    pair.b.hooks.message = [&](End&, ByteView got) {
        if (got.size() == message->size() && std::memcmp(got.data(), message->data(), got.size()) == 0)
            ++right;
    };
    CHECK(pair.pump(60s, [&] {
        return right == static_cast<std::uint64_t>(accepted) && pair.to_b->completed() == pair.to_b->posted();
    }));
}

TEST_CASE("one link that is full does not stop another") {
    BareHost a(method_under_test());
    BareHost slow(method_under_test());
    BareHost quick(method_under_test());
    End* to_slow = link_up(a, slow);
    End* to_quick = link_up(a, quick);
    REQUIRE(to_slow != nullptr);
    REQUIRE(to_quick != nullptr);
    Receiver at_slow(slow, always(4'000));
    Receiver at_quick(quick, always(4'000));
    Stream flood(*to_slow, always(4'000), 100'000);
    REQUIRE(pump({&a}, 20s, [&] {
        flood.step();
        return flood.again() > 0;
    }));
    Stream stream(*to_quick, always(4'000), 1'000);
    CHECK(pump({&a, &quick}, 20s, [&] {
        stream.step();
        return at_quick.received() == 1'000;
    }));
    CHECK(at_quick.fault() == "");
}

TEST_CASE("one busy link does not starve another link, a connection being made, nor a time limit") {
    constexpr std::size_t kSize = 64;
    BareOptions patience;
    for (const char* limit : {"connect_timeout", "handshake_timeout"})
        if (method_under_test().preset(limit) != nullptr) patience.settings[limit] = "1 s";
    BareHost receiver(method_under_test(), patience);
    BareHost busy(method_under_test());
    BareHost quiet(method_under_test());
    BareHost late(method_under_test());
    BareHost mute(method_under_test()); // is never polled
    End* busy_end = nullptr;
    End* quiet_end = nullptr;
    End* const from_busy = link_up(busy, receiver, &busy_end);
    End* const from_quiet = link_up(quiet, receiver, &quiet_end);
    REQUIRE(from_busy != nullptr);
    REQUIRE(from_quiet != nullptr);
    Receiver arrived(receiver, always(kSize));
    Stream flood(*from_busy, always(kSize), UINT64_MAX);
    // Before each poll of the receiver more goes to it than it takes in one.
    const auto beside_the_flood = [&](auto&& done) {
        return eventually(15s, [&] {
            for (int i = 0; i < 8; ++i) {
                flood.step();
                busy.poll();
            }
            quiet.poll();
            late.poll();
            receiver.poll();
            return done();
        });
    };
    CHECK(beside_the_flood([&] { return flood.again() > 0 && arrived.received(*busy_end) > 1'000; }));

    constexpr std::uint64_t kMessages = 20;
    Stream stream(*from_quiet, always(kSize), kMessages);
    CHECK(beside_the_flood([&] {
        if (arrived.received(*quiet_end) == stream.sent()) stream.step();
        return arrived.received(*quiet_end) == kMessages;
    }));

    End* const in = late.connect(receiver.descriptor(), receiver.id());
    End* const out = receiver.connect(late.descriptor(), late.id());
    REQUIRE(in != nullptr);
    REQUIRE(out != nullptr);
    CHECK(beside_the_flood([&] { return in->is_open() && out->is_open(); }));

    // A method over another has that one's connections, and that one's limit.
    const bool is_over_another = arguments().settings.contains("over");
    if (method_under_test().preset("connect_timeout") != nullptr && !is_over_another) {
        // Who does not poll does not answer.
        End* const unanswered = receiver.connect(mute.descriptor(), mute.id());
        REQUIRE(unanswered != nullptr);
        CHECK(beside_the_flood([&] { return unanswered->is_lost(); }));
    }
    CHECK(flood.failure() == PLEXUS_OK);
    CHECK(arrived.fault() == "");
    receiver.hooks.message = nullptr;
}

TEST_CASE("the pieces of a send are the sender's again after OK or `sent`") {
    Pair pair(method_under_test());
    for (const std::size_t wanted : {8, 60, 500, 5'000, 50'000, 500'000, 5'000'000}) {
        const std::size_t size = at_most(wanted);
        const Bytes expected = content(3, size, size);
        const int rounds = kSanitized && size > 1'000'000 ? 1 : 5;
        for (int round = 0; round < rounds; ++round) {
            CAPTURE(size, round);
            auto message = std::make_shared<Bytes>(expected);
            std::int32_t status = PLEXUS_AGAIN;
            CHECK(pair.pump(10s, [&] {
                if (status == PLEXUS_AGAIN) status = pair.a.send(*pair.to_b, message, 24, 3);
                return status != PLEXUS_AGAIN;
            }));
            REQUIRE((status == PLEXUS_OK || status == PLEXUS_POSTED));
            // Posted: the host keeps a share until `sent`. Ours is the only one after that.
            CHECK(pair.pump(10s, [&] { return status == PLEXUS_OK || message.use_count() == 1; }));
            std::fill(message->begin(), message->end(), std::byte{0xee});
            std::optional<Bytes> got;
            CHECK(pair.pump(10s, [&] { return (got = pair.to_a->take()).has_value(); }));
            CHECK((got.has_value() && *got == expected));
        }
    }
}

TEST_CASE("what the host refuses a place for is dropped, and what follows arrives") {
    constexpr std::uint64_t kEach = kSanitized ? 10 : 40;
    Pair pair(method_under_test());
    std::uint64_t refused = 0;
    std::uint64_t asked = 0;
    pair.b.hooks.place = [&](End&, std::size_t) {
        if (asked++ % 2 == 0) return std::int32_t{PLEXUS_OK};
        ++refused;
        return std::int32_t{PLEXUS_TOO_LARGE};
    };
    std::vector<std::uint64_t> seen;
    pair.b.hooks.message = [&](End&, ByteView message) {
        std::uint64_t n = 0;
        if (message.size() >= sizeof n) std::memcpy(&n, message.data(), sizeof n);
        seen.push_back(n);
    };
    std::uint64_t next = 0;
    std::shared_ptr<Bytes> message;
    CHECK(pair.pump(30s, [&] {
        if (next < 2 * kEach && pair.to_b->posted() - pair.to_b->completed() < 4) {
            if (!message) {
                message = std::make_shared<Bytes>(next % 2 == 0 ? at_most(std::size_t{3} << 20) : 40);
                std::memcpy(message->data(), &next, sizeof next);
            }
            const std::int32_t status = pair.a.send(*pair.to_b, message, 24, 2);
            if (status == PLEXUS_OK || status == PLEXUS_POSTED) {
                ++next;
                message.reset();
            }
        }
        return seen.size() + refused == 2 * kEach && pair.to_b->posted() == pair.to_b->completed();
    }));
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    CHECK(std::count_if(seen.begin(), seen.end(), [](std::uint64_t n) { return n % 2 == 1; }) == kEach);
    CHECK(pair.to_b->is_open());
    pair.b.hooks = {};
    CHECK(carry(pair, mixed(at_most(100'000)), 200) == "");
}

} // namespace pressure_test
