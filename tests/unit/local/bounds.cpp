// SPDX-License-Identifier: BSD-3-Clause
// What the queue of a link holds: exactly as much as is allowed, charged to the link that filled it, and
// given back when it was taken.
#include "support/bare_host.h"
#include "support/catch.h"

#include <malloc.h>

namespace bounds_test {

using namespace plexus::testing;

namespace {

const Method& local() { return find_method("local"); }

constexpr std::size_t kQueue = 128 * 1024; // the least
constexpr std::size_t kRecord = 1024;      // a message of so many bytes less 16 takes so many
constexpr std::uint64_t kFits = kQueue / kRecord;

std::shared_ptr<const Bytes> message(std::size_t size = kRecord - 16) {
    auto bytes = std::make_shared<Bytes>(size);
    for (std::size_t i = 0; i < size; ++i) (*bytes)[i] = static_cast<std::byte>(i * 11 + 1);
    return bytes;
}

// Sends until there is no room: how many messages that were.
std::uint64_t fill(BareHost& host, End& end, const std::shared_ptr<const Bytes>& what) {
    for (std::uint64_t sent = 0; sent < 10 * kFits; ++sent)
        if (const std::int32_t status = host.send(end, what, 24, 2); status != PLEXUS_OK) {
            CHECK(status == PLEXUS_AGAIN);
            return sent;
        }
    return 10 * kFits;
}

} // namespace

TEST_CASE("a link's queue holds as many bytes as it may, and not one message more") {
    Pair pair(local(), with({{"queue", "128 KiB"}}));
    CHECK(fill(pair.a, *pair.to_b, message()) == kFits);
}

TEST_CASE("a sender that was turned away is told when half of the queue is free, not before") {
    Pair pair(local(), with({{"queue", "128 KiB"}}));
    REQUIRE(fill(pair.a, *pair.to_b, message()) == kFits);
    const std::uint64_t told = pair.to_b->writable();
    const auto poll_both = [&](std::uint32_t budget) {
        pair.b.poll(budget);
        pair.a.poll();
        return pair.to_b->writable() - told;
    };
    CHECK(poll_both(kFits / 2 - 1) == 0);
    CHECK(poll_both(1) == 1);
    CHECK(fill(pair.a, *pair.to_b, message()) == kFits / 2);
}

TEST_CASE("what is taken of several links in one poll is free for each of them") {
    BareHost hub(local());
    BareHost one(local(), with({{"queue", "128 KiB"}}));
    BareHost other(local(), with({{"queue", "128 KiB"}}));
    End* const from_one = link_up(one, hub);
    End* const from_other = link_up(other, hub);
    REQUIRE((from_one != nullptr && from_other != nullptr));
    for (std::uint64_t i = 0; i < kFits; ++i) { // by turns
        REQUIRE(one.send(*from_one, message(), 24, 2) == PLEXUS_OK);
        REQUIRE(other.send(*from_other, message(), 24, 2) == PLEXUS_OK);
    }
    CHECK(fill(one, *from_one, message()) == 0);
    CHECK(fill(other, *from_other, message()) == 0);
    REQUIRE(hub.poll(2 * kFits) == static_cast<std::int32_t>(2 * kFits));
    CHECK(fill(one, *from_one, message()) == kFits);
    CHECK(fill(other, *from_other, message()) == kFits);
}

TEST_CASE("a message that fills a chunk to its last byte ends there") {
    // Of the chunk's 32 KiB the first record leaves 16 bytes less than the second needs.
    const auto small = message(16);
    const auto large = message(32 * 1024 - 32);
    for (int round = 0; round < 20; ++round) {
        Pair pair(local(), with({{"eager", "32752"}}), with({{"eager", "32752"}}));
        for (int i = 0; i < 20; ++i) {
            REQUIRE(pair.a.send(*pair.to_b, small, 16, 1) == PLEXUS_OK);
            REQUIRE(pair.a.send(*pair.to_b, large, 24, 2) == PLEXUS_OK);
        }
        REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == 40; }));
        for (int i = 0; i < 20; ++i) {
            REQUIRE((pair.to_a->take() == *small));
            REQUIRE((pair.to_a->take() == *large));
        }
    }
}

TEST_CASE("memory that a long queue took is given back") {
    Pair pair(local(), with({{"queue", "64 MiB"}}));
    pair.b.hooks.message = [](End&, ByteView) {};
    const auto used = [] { return ::mallinfo2().uordblks; };
    const std::size_t before = used();
    const std::uint64_t sent = fill(pair.a, *pair.to_b, message());
    REQUIRE(sent == 10 * kFits);
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == sent; }));
    CHECK(used() < before + 512 * 1024); // of 1.25 MiB; the sanitizers say nothing here
}

TEST_CASE("a context that has taken a part of what came does not sleep") {
    Pair pair(local());
    for (int i = 0; i < 5; ++i) REQUIRE(pair.a.send(*pair.to_b, message(), 24, 2) == PLEXUS_OK);
    std::uint64_t sleep_ns = UINT64_MAX;
    for (std::uint64_t i = 1; i <= 5; ++i) {
        CHECK(pair.b.arm(&sleep_ns) == PLEXUS_AGAIN);
        CHECK(pair.b.poll(1) == 1);
        CHECK(pair.to_a->received() == i);
    }
    pair.b.poll();
    CHECK(pair.b.arm(&sleep_ns) == PLEXUS_OK);
}

} // namespace bounds_test
