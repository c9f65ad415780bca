// SPDX-License-Identifier: BSD-3-Clause
// The sending half of a link by itself: what it counts, and what it believes of a peer's words.
#include "support/catch.h"

#include "plexus/module/module.h"
#include "shm/cma.h"
#include "shm/sender.h"
#include "shm/socket.h"

#include <array>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace sending_test {

using namespace plexus::shm;
using plexus::module::OwnedFd;

namespace {

constexpr std::uint32_t kLines = 256;
constexpr std::uint64_t kArea = 1 << 16;

Options options(bool fetches, std::uint64_t area) {
    Options all;
    all.ring_lines = kLines;
    all.inline_bytes = 512;
    all.area_bytes = area;
    all.limits.eager = area / 4;
    all.limits.fetch = fetches;
    if (fetches) all.limits.policy = CopyPolicy::cma;
    return all;
}

/// One sender, and the shared words that its peer would write.
struct Half {
    explicit Half(bool fetches = false, std::uint64_t area = kArea)
      : lines(std::make_unique<Line[]>(kLines))
      , sender(table, options(fetches, area), totals) {
        table.size = PLEXUS_HOST_SIZE;
        table.log = [](void*, plexus_level, const char*) {};
        table.sent = [](void* self, void*, std::int32_t status) {
            static_cast<Half*>(self)->ended.push_back(status);
        };
        table.writable = [](void* self) { ++static_cast<Half*>(self)->writable; };
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        mine.reset(ends[0]);
        theirs.reset(ends[1]);
        REQUIRE(mailbox.open());
        REQUIRE(doorbell.attach(mailbox.memory_fd(), OwnedFd(::dup(mailbox.event_fd())), 0, out, false));
        out.can_fetch = 1;
        sender.attach(out, lines.get(), kLines, doorbell, mine.get());
        sender.open();
    }
    std::int32_t send(std::size_t size) {
        bytes.resize(size);
        const plexus_view pieces[2]{{bytes.data(), 24}, {bytes.data() + 24, size - 24}};
        bool streaming = false;
        return sender.send(pieces, 2, this, streaming);
    }

    plexus_host table{};
    Totals totals;
    std::unique_ptr<Line[]> lines;
    Direction out{};
    Mailbox mailbox;
    Doorbell doorbell;
    OwnedFd mine, theirs;
    Sender sender;
    std::vector<std::byte> bytes;
    std::vector<std::int32_t> ended;
    int writable = 0;
};

} // namespace

TEST_CASE("a peer that has fetched more than was posted ends no more sends than there are") {
    Half half(true);
    REQUIRE(half.send(100'000) == PLEXUS_POSTED);
    CHECK(half.sender.queued_bytes() >= 100'000);
    half.out.fetched = 5;
    CHECK(half.sender.settle(&half, false) == 1);
    CHECK(half.ended == std::vector<std::int32_t>{PLEXUS_OK});
    CHECK(half.sender.idle());
    CHECK(half.sender.queued_bytes() == 0);
}

TEST_CASE("a peer that can't read a posted message gets the bytes from where it asks, and nothing else") {
    constexpr std::uint64_t kRest = kMostPart + 100;
    Half half(true);
    REQUIRE(half.send(24 + kRest) == PLEXUS_POSTED);
    for (std::size_t i = 0; i < half.bytes.size(); ++i)
        half.bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    const auto ask = [&](std::uint64_t from) {
        half.out.wanted_from = from;
        ++half.out.asked;
        CHECK(half.sender.has_news());
        CHECK(half.sender.settle(&half, false) == 0);
        CHECK_FALSE(half.sender.has_news());
        std::array<std::uint8_t, kPartPacket.size()> room{};
        Packet packet = receive_packet(half.theirs.get(), room, true);
        if (packet.is != Packet::Is::here) return std::uint64_t{0};
        REQUIRE((room == kPartPacket && packet.fd_count == 1));
        const SharedMemory part = SharedMemory::map(packet.fds[0].get(), 1, kMostPart);
        REQUIRE(part);
        CHECK(std::memcmp(part.data(), half.bytes.data() + 24 + from, part.size()) == 0);
        return std::uint64_t{part.size()};
    };
    CHECK(ask(0) == kMostPart);
    CHECK(ask(99) == kMostPart);
    CHECK(ask(100) == kMostPart);
    CHECK(ask(101) == kMostPart - 1);
    CHECK(ask(kRest - 1) == 1);
    CHECK(ask(kRest) == 0);
    CHECK(ask(UINT64_MAX) == 0);
    CHECK(half.ended.empty());
    half.out.fetched = 1;
    CHECK(half.sender.settle(&half, false) == 1);
    ++half.out.asked; // nothing is posted
    CHECK_FALSE(half.sender.has_news());
    CHECK(half.sender.settle(&half, false) == 0);
    CHECK(half.ended == std::vector<std::int32_t>{PLEXUS_OK});
}

TEST_CASE("a link that fails has nothing queued any more") {
    const bool fetches = GENERATE(true, false);
    CAPTURE(fetches);
    Half half(fetches);
    REQUIRE(half.send(200'000) == PLEXUS_POSTED);
    half.out.released = UINT64_MAX; // of the area nothing is held
    CHECK(half.sender.queued_bytes() > 0);
    half.sender.fail(&half);
    CHECK(half.ended == std::vector<std::int32_t>{PLEXUS_MESSAGE_LOST});
    CHECK(half.sender.queued_bytes() == 0);
}

TEST_CASE("messages in the ring are queued once they are more than a peer need tell of") {
    Half half;
    std::uint64_t before = 0;
    for (std::uint32_t i = 0; i < kLines / 2; ++i) {
        REQUIRE(half.send(40) == PLEXUS_OK);
        const std::uint64_t queued = half.sender.queued_bytes();
        CHECK(queued >= before);
        before = queued;
    }
    CHECK(before == kLines / 2 * kLineBytes);
    half.out.consumed = kLines / 2;
    CHECK(half.sender.queued_bytes() == 0);
}

TEST_CASE("a small message for which there is no area goes through the ring, and is never posted") {
    Half half(true, std::uint64_t{1} << 62); // no system has so much
    half.sender.limits.eager = 8'000;
    CHECK(half.send(2'000) == PLEXUS_OK);
    CHECK(half.ended.empty());
    CHECK(half.sender.idle());
    CHECK(half.send(100'000) == PLEXUS_POSTED); // what is large may be
}

TEST_CASE("an area that was given back counts again as soon as it is used") {
    Half half;
    REQUIRE(half.send(8'000) == PLEXUS_OK);
    CHECK(half.totals.area_bytes == kArea);
    half.out.released = 8'000;
    for (int i = 0; i < 2; ++i) half.sender.discard_idle_area();
    CHECK(half.totals.area_bytes == 0);
    half.out.consumed = 1;
    REQUIRE(half.send(8'000) == PLEXUS_OK);
    CHECK(half.totals.area_bytes == kArea);
    CHECK(half.sender.area_bytes() == kArea);
}

TEST_CASE("a stream that gets on by a part, and not by all, waits for the peer again") {
    Half half;
    REQUIRE(half.send(10 * kArea) == PLEXUS_POSTED);
    CHECK(half.sender.carry_on(&half) == Sender::Go::stuck);
    half.out.released = kArea / 8;
    CHECK(half.sender.carry_on(&half) == Sender::Go::stuck);
    CHECK(half.out.waiting == 1);
    CHECK(half.ended.empty());
}

TEST_CASE("memory is read from that process only which shows the cookie there") {
    const Cookie own{1, 2, 3};
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(own.data()));
    if (!can_read(::getpid(), {address, own})) SKIP_TEST("this system permits no cross-memory attach");
    CHECK_FALSE(can_read(::getpid(), {address, {1, 2, 4}}));
    CHECK_FALSE(can_read(::getpid(), {8, own}));
    CHECK_FALSE(can_read(0, {address, own}));
}

} // namespace sending_test
