// SPDX-License-Identifier: BSD-3-Clause
// When a host may sleep, for how long, and that it sleeps when there is nothing to do.
#include "raw_peer.h"
#include "support/catch.h"

namespace asleep_test {

using namespace plexus::testing;

namespace {

std::uint64_t armed_for(BareHost& host) {
    std::uint64_t sleep_ns = UINT64_MAX;
    return host.arm(&sleep_ns) == PLEXUS_OK ? sleep_ns : 0;
}

} // namespace

TEST_CASE("a host with messages in a receive buffer does not sleep") {
    Pair pair(tcp());
    pair.b.hooks.message = [](End&, ByteView) {};
    for (int i = 0; i < 64; ++i)
        REQUIRE(pair.a.send(*pair.to_b, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_OK);
    REQUIRE(eventually(5s, [&] {
        pair.b.poll(4); // one read takes them all, and the budget ends
        return pair.to_a->received() > 0;
    }));
    REQUIRE(pair.to_a->received() < 60);
    std::uint64_t sleep_ns = UINT64_MAX;
    CHECK(pair.b.arm(&sleep_ns) == PLEXUS_AGAIN);
    REQUIRE(pair.pump(5s, [&] { return pair.to_a->received() == 64; }));
    CHECK(pair.b.poll() == 0); // and counts nothing where nothing came
    CHECK(eventually(5s, [&] {
        pair.b.poll();
        return armed_for(pair.b) > 0;
    }));
}

TEST_CASE("a host that was asked for a link does not sleep, or only until the time limit of the link") {
    BareHost host(tcp(), with({{"connect_timeout", "10 s"}}));
    BareHost deaf(tcp()); // listens, but does not answer
    std::uint64_t sleep_ns = UINT64_MAX;
    CHECK(host.arm(&sleep_ns) == PLEXUS_OK);
    CHECK(sleep_ns == UINT64_MAX);
    host.poll();
    REQUIRE(host.connect(deaf.descriptor(), deaf.id()) != nullptr);
    CHECK(host.arm(&sleep_ns) == PLEXUS_AGAIN);
    REQUIRE(eventually(10s, [&] {
        if (armed_for(host) > 0) return true;
        host.poll();
        return false;
    }));
    for (int i = 0; i < 50; ++i) host.poll();
    const std::uint64_t most = armed_for(host);
    CHECK(most > 0);
    CHECK(most <= 10'000'000'000);
}

TEST_CASE("what has woken a host does not wake it again") {
    BareHost host(tcp());
    BareHost peer(tcp());
    REQUIRE(armed_for(host) == UINT64_MAX);
    End* end = host.connect(peer.descriptor(), peer.id()); // wakes the host
    REQUIRE(end != nullptr);
    REQUIRE(pump({&host, &peer}, 5s, [&] { return end->is_open(); }));
    CHECK(eventually(5s, [&] {
        host.poll();
        peer.poll();
        return !host.sleep(10ms);
    }));
}

} // namespace asleep_test
