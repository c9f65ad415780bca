// SPDX-License-Identifier: BSD-3-Clause
// Promise: a thread that has armed a module wakes for every kind of news, soon, and for
// nothing else.
#include "support/catch.h"
#include "support/sleeper.h"
#include "support/stream.h"

#include <poll.h>

namespace sleeping_test {

using namespace plexus::testing;

namespace {

constexpr auto kSoon = 3s; // a lost wake-up is for ever; a slow machine is not

bool can_sleep() { return (method_under_test().ops.caps & PLEXUS_CAP_SLEEP) != 0; }

std::shared_ptr<const Bytes> some_bytes(std::size_t size) {
    return std::make_shared<const Bytes>(content(5, size, size));
}

// Lets both become idle, then starts to sleep at b.
struct Asleep {
    explicit Asleep(Pair& pair)
      : sleeper(pair.b) {
        REQUIRE(eventually(10s, [&] { return sleeper.asleep(); }));
    }
    Sleeper sleeper;
};

} // namespace

#define NEEDS_SLEEP()                                                                                        \
    if (!can_sleep()) SKIP_TEST("this module cannot sleep (no PLEXUS_CAP_SLEEP)")

TEST_CASE("an idle module's descriptor is not readable, and asks for no polls") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    REQUIRE(carry(pair, mixed(at_most(50'000)), 50) == "");
    const Asleep at_b(pair);
    const auto until = std::chrono::steady_clock::now() + 200ms;
    while (std::chrono::steady_clock::now() < until) {
        pair.a.poll();
        std::this_thread::yield();
    }
    const std::uint64_t before = at_b.sleeper.naps();
    std::this_thread::sleep_for(500ms); // the one wait that must see nothing happen
    CHECK(at_b.sleeper.naps() - before <= 5);
}

TEST_CASE("wait_fd stays the same") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    const int before = pair.b.wait_fd();
    REQUIRE(carry(pair, mixed(at_most(50'000)), 50) == "");
    CHECK(before >= 0);
    CHECK(pair.b.wait_fd() == before);
}

TEST_CASE("arm says AGAIN where a message is waiting, or the descriptor is readable") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    REQUIRE(carry(pair, always(64), 10) == "");
    REQUIRE(pair.a.push(*pair.to_b, some_bytes(64)));
    for (int i = 0; i < 10; ++i) pair.a.poll();
    CHECK(pair.b.sleep(5'000ms));
    CHECK(pair.pump(kSoon, [&] { return pair.to_a->take().has_value(); }));
}

TEST_CASE("a sleeper wakes for a message of each size") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    for (const std::size_t wanted : {0, 8, 2'000, 30'000, 400'000, 4'000'000}) {
        const std::size_t size = at_most(wanted);
        CAPTURE(size);
        const Asleep at_b(pair);
        const std::uint64_t before = pair.to_a->received();
        REQUIRE(pair.a.push(*pair.to_b, some_bytes(size)));
        CHECK(pump({&pair.a}, kSoon, [&] { return pair.to_a->received() > before; }));
    }
}

TEST_CASE("a sleeper wakes for a new link") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    const Asleep at_b(pair);
    End* end = pair.a.connect(pair.b.descriptor(), pair.b.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&pair.a}, kSoon, [&] { return end->is_open(); }));
}

TEST_CASE("a sleeper wakes when its own new link is open") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    const Asleep at_b(pair);
    End* end = pair.b.connect(pair.a.descriptor(), pair.a.id()); // from another thread than the sleeper
    REQUIRE(end != nullptr);
    CHECK(pump({&pair.a}, kSoon, [&] { return end->is_open(); }));
}

TEST_CASE("a sleeper wakes when a link is lost") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    const Asleep at_b(pair);
    pair.a.disconnect(*pair.to_b);
    CHECK(pump({&pair.a}, kSoon, [&] { return pair.to_a->is_lost(); }));
}

TEST_CASE("a sleeper wakes when there is room again, and when a posted send is over") {
    NEEDS_SLEEP();
    Pair pair(method_under_test());
    const std::size_t size = at_most(GENERATE(std::size_t{500}, std::size_t{1'000'000}));
    CAPTURE(size);
    const std::uint64_t messages = (std::size_t{64} << 20) / (size + 64);
    Receiver at_a(pair.a, always(size));
    Stream stream(*pair.to_a, always(size), messages);
    const Sleeper at_b(pair.b);
    REQUIRE(eventually(10s, [&] { return !stream.step(); }));
    REQUIRE(eventually(10s, [&] { return at_b.asleep(); }));
    // b sleeps with work to send; only what a takes out of the way can wake it.
    CHECK(pump({&pair.a}, 30s, [&] { return stream.step() && at_a.received() == messages; }));
    CHECK(at_a.fault() == "");
    CHECK(eventually(kSoon, [&] { return pair.to_a->posted() == pair.to_a->completed(); }));
}

TEST_CASE("two sleepers play ping-pong and none misses a ball") {
    NEEDS_SLEEP();
    constexpr int kRounds = kSanitized ? 500 : 5'000;
    Pair pair(method_under_test());
    std::atomic<int> at_a{0};
    std::atomic<int> refused{0};
    const auto answer = [&](End& end, ByteView message) {
        if (!end.host.push(end, std::make_shared<Bytes>(message.begin(), message.end()))) ++refused;
    };
    pair.b.hooks.message = answer;
    pair.a.hooks.message = [&](End& end, ByteView message) {
        if (++at_a < kRounds) answer(end, message);
    };
    const Sleeper a(pair.a);
    const Sleeper b(pair.b);
    REQUIRE(pair.a.push(*pair.to_b, some_bytes(8)));
    CHECK(eventually(30s, [&] { return at_a == kRounds; }));
    CHECK(refused == 0);
}

} // namespace sleeping_test
