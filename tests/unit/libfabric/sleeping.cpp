// SPDX-License-Identifier: BSD-3-Clause
// Sleep over a provider without a descriptor of its own: who sends rings, and no clock is needed.
#include "support/catch.h"
#include "support/stream.h"
#include "unit/libfabric/module.h"

#include <poll.h>

namespace sleeping_test {

using namespace plexus::testing;

namespace {

bool wakes(BareHost& host, std::chrono::milliseconds limit) {
    pollfd one{host.wait_fd(), POLLIN, 0};
    return ::poll(&one, 1, static_cast<int>(limit.count())) > 0;
}

/// Polls until both have nothing to do and this one may sleep.
bool falls_asleep(BareHost& host, BareHost& other) {
    return pump({&host, &other}, 10s, [&] {
        std::uint64_t sleep_ns = 0;
        return host.arm(&sleep_ns) == PLEXUS_OK && !wakes(host, 0ms);
    });
}

} // namespace

TEST_CASE("a message over the memory of a host wakes who sleeps, once") {
    const BareOptions over_memory = on_loopback({{"provider", "shm"}, {"domain", ""}});
    Pair pair(libfabric(), over_memory, over_memory);
    const auto message = std::make_shared<const Bytes>(content(5, 1, 100));
    for (int time = 0; time < 3; ++time) {
        CAPTURE(time);
        REQUIRE(falls_asleep(pair.b, pair.a));
        REQUIRE(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK);
        CHECK(wakes(pair.b, 10s)); // the descriptor alone: a sleep has no end here
        std::optional<Bytes> got;
        REQUIRE(pump({&pair.b}, 10s, [&] { return (got = pair.to_a->take()).has_value(); }));
        CHECK(*got == *message);
    }
    REQUIRE(falls_asleep(pair.b, pair.a)); // nothing of a ring is left
}

TEST_CASE("a message that was seen by who would sleep keeps it awake until it is handed over") {
    const BareOptions over_memory = on_loopback({{"provider", "shm"}, {"domain", ""}});
    Pair pair(libfabric(), over_memory, over_memory);
    const auto message = std::make_shared<const Bytes>(content(5, 1, 40));
    for (int time = 0; time < 3; ++time) {
        CAPTURE(time);
        REQUIRE(falls_asleep(pair.b, pair.a));
        REQUIRE(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK);
        REQUIRE(wakes(pair.b, 10s));
        std::uint64_t sleep_ns = 0;
        REQUIRE(eventually(10s, [&] { return pair.b.arm(&sleep_ns) == PLEXUS_AGAIN; }));
        CHECK(pair.b.arm(&sleep_ns) == PLEXUS_AGAIN);
        std::optional<Bytes> got;
        REQUIRE(pump({&pair.b}, 10s, [&] { return (got = pair.to_a->take()).has_value(); }));
    }
}

} // namespace sleeping_test
