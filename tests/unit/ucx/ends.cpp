// SPDX-License-Identifier: BSD-3-Clause
// Links whose other side is not what it says, or ends, over both kinds of transport.
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/stream.h"
#include "ucx.h"

#include "ucx/descriptor.h"

#include <poll.h>

namespace ends_test {

using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

/// Both sides alike.
Pair pair_over(const char* tls, std::map<std::string, std::string> more = {}) {
    more.insert({"tls", tls});
    return Pair(ucx(), with(more), with(more));
}

} // namespace

TEST_CASE("a descriptor that no holder of the key made is refused before UCX sees its address") {
    BareHost here(ucx(), with({{"tls", "tcp"}}));
    BareOptions other = with({{"tls", "tcp"}});
    other.key = {9, 9, 9};
    BareHost stranger(ucx(), other);
    End* const end = here.connect(stranger.descriptor(), stranger.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&here, &stranger}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_DENIED);
    CHECK_THAT(end->lost_why(), Contains("not made by a holder of this job's key"));
}

TEST_CASE("a context that has ended is named as the reason, for links that are there and for later ones") {
    const char* const tls = GENERATE("tcp", "shm");
    CAPTURE(tls);
    Pair pair = pair_over(tls);
    End* const second = pair.a.connect(pair.b.descriptor(), pair.b.id());
    REQUIRE(second != nullptr);
    REQUIRE(pair.pump(10s, [&] { return second->is_open(); }));
    const Bytes there = pair.b.descriptor();
    const plexus_id id = pair.b.id();
    pair.a.disconnect(*second);
    REQUIRE(pair.pump(10s, [&] { return pair.a.query(PLEXUS_QUERY_LINKS) == 1; }));
    pair.b.close();
    pair.b.drain();
    pair.b.destroy();
    CHECK(pump({&pair.a}, 10s, [&] { return pair.to_b->is_lost(); }));
    // Nothing of the end is left to do: it may sleep.
    CHECK(pump({&pair.a}, 10s, [&] {
        std::uint64_t sleep_ns = 0;
        return pair.a.arm(&sleep_ns) == PLEXUS_OK;
    }));
    BareHost fresh(ucx(), with({{"tls", tls}}));
    End* const late = fresh.connect(there, id);
    REQUIRE(late != nullptr);
    CHECK(pump({&fresh}, 10s, [&] { return late->is_lost(); }));
    CHECK_THAT(late->lost_why(), Contains("the peer's context has ended"));
}

TEST_CASE("what a link has queued is counted down again") {
    const char* const tls = GENERATE("tcp", "shm");
    CAPTURE(tls);
    Pair pair = pair_over(tls, {{"queue", "16 KiB"}, {"eager", "4 KiB"}});
    CHECK(carry(pair, always(4000), 2000) == "");
    CHECK(pair.pump(10s, [&] { return pair.a.query(PLEXUS_QUERY_QUEUED_BYTES, pair.to_b) == 0; }));
}

TEST_CASE("messages that UCX held do not count when they are out") {
    Pair pair = pair_over("tcp", {{"queue", "64 MiB"}, {"eager", "64 KiB"}});
    const std::size_t size = 60'000;
    std::uint64_t sent = 0;
    for (int time = 0; time < 3; ++time) {
        CAPTURE(time, sent);
        const auto message = std::make_shared<const Bytes>(content(5, 1, size));
        // The receiver is not polled meanwhile: more than the system has room for stays with UCX.
        REQUIRE(pair.pump(10s, [&] { return pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK; }));
        ++sent;
        while (pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK) ++sent;
        CHECK(pair.a.query(PLEXUS_QUERY_QUEUED_BYTES, pair.to_b) > 32 * size);
        REQUIRE(pair.pump(20s, [&] { return pair.to_a->received() == sent; }));
    }
    CHECK(pair.pump(10s, [&] { return pair.a.query(PLEXUS_QUERY_QUEUED_BYTES, pair.to_b) == 0; }));
}

TEST_CASE("no sleep begins beside messages that have come and were not handed over") {
    const char* const tls = GENERATE("tcp", "shm");
    CAPTURE(tls);
    Pair pair = pair_over(tls);
    const auto message = std::make_shared<const Bytes>(content(5, 1, 40));
    for (int each = 0; each < 20; ++each) REQUIRE(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK);
    REQUIRE(pair.pump(10s, [&] { return pair.a.query(PLEXUS_QUERY_QUEUED_BYTES, pair.to_b) == 0; }));
    for (int each = 0; each < 20; ++each) REQUIRE(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK);
    REQUIRE(eventually(10s, [&] {
        pair.a.poll();
        if (pair.to_a->received() == 40) return true;
        std::uint64_t sleep_ns = 0;
        if (pair.b.arm(&sleep_ns) == PLEXUS_OK) {
            pollfd one{pair.b.wait_fd(), POLLIN, 0};
            if (::poll(&one, 1, 5000) == 0) FAIL("slept beside messages, with " << pair.to_a->received());
        }
        pair.b.poll(1);
        return false;
    }));
}

} // namespace ends_test
