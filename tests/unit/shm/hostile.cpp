// SPDX-License-Identifier: BSD-3-Clause
// A peer that has proved itself may still go wrong: whatever it writes into the ring ends
// in a reason, never in a wild access. (The sanitizer builds watch that.)
#include "support/catch.h"

#include "plexus/module/module.h"
#include "shm/receiver.h"
#include "shm/socket.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace hostile_test {

using namespace plexus::shm;
using plexus::SealedMemory;
using plexus::UniqueFd;

namespace {

constexpr std::uint32_t kLines = 64;
constexpr std::size_t kAreaBytes = 1 << 16;

// One receiver, and the writing end of what it reads.
struct Peer {
    Peer()
      : lines(std::make_unique<Line[]>(kLines))
      , receiver(table) {
        table.size = PLEXUS_HOST_SIZE;
        table.log = [](void*, plexus_level, const char*) {};
        table.deliver = [](void* self, plexus_view message) {
            auto& peer = *static_cast<Peer*>(self);
            // Touches each byte, so that a bad view is noticed.
            for (std::size_t i = 0; i < message.size; ++i)
                peer.sum += static_cast<const std::uint8_t*>(message.data)[i];
            ++peer.delivered;
        };
        table.place = [](void* self, plexus_view, std::size_t rest, void** where, void** token) {
            auto& peer = *static_cast<Peer*>(self);
            if (rest > peer.most) return std::int32_t{PLEXUS_TOO_LARGE};
            peer.room.assign(rest, std::byte{0});
            *where = peer.room.data();
            peer.placing = true;
            *token = nullptr;
            return std::int32_t{PLEXUS_OK};
        };
        table.placed = [](void* self, void*, std::int32_t status) {
            static_cast<Peer*>(self)->placed.push_back(status);
        };
        in.can_fetch = 1;
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        mine.reset(ends[0]);
        theirs.reset(ends[1]);
        REQUIRE(mailbox.open());
        REQUIRE(doorbell.attach(mailbox.memory_fd(), UniqueFd(::dup(mailbox.event_fd())), 0, out, false));
        writer.attach(lines.get(), kLines, in.consumed);
        receiver.attach(in, lines.get(), kLines, doorbell, {mine.get(), ::getpid(), -1}, spare);
    }

    void bring_area() {
        UniqueFd fd;
        area = SealedMemory::create("test area", kAreaBytes, fd);
        const int fds[] = {fd.get()};
        REQUIRE(send_packet(theirs.get(), kAreaPacket, fds));
    }
    void bring_part(const void* bytes, std::size_t size) {
        UniqueFd fd;
        const SealedMemory part = SealedMemory::create("test part", size, fd);
        std::memcpy(part.data(), bytes, size);
        const int fds[] = {fd.get()};
        REQUIRE(send_packet(theirs.get(), kPartPacket, fds));
    }
    template <class Body>
    void write(Kind kind, const Body& body, std::uint32_t size = sizeof(Body)) {
        std::byte* const to = writer.reserve(std::max<std::size_t>(size, sizeof body));
        REQUIRE(to != nullptr);
        std::memcpy(to, &body, sizeof body);
        writer.publish(kind, size);
    }
    // Half of a message of 128 bytes.
    void begin_stream() {
        bring_area();
        StreamHead head{};
        head.rest = 128;
        head.head_size = 8;
        write(Kind::stream, head);
        write(Kind::chunk, AreaBody{0, 64, 64});
        CHECK(receiver.receive(this, 16, gone) == 2);
    }
    bool broken() { return receiver.receive(this, 16, gone) < 0 && !receiver.error().empty(); }

    plexus_host table{};
    std::unique_ptr<Line[]> lines;
    Direction in{};
    Direction out{};
    Mailbox mailbox;
    Doorbell doorbell;
    UniqueFd mine, theirs;
    SealedMemory area;
    RingWriter writer;
    SpareDescriptor spare;
    Receiver receiver;
    std::atomic<bool> gone{false};
    std::size_t most = kAreaBytes; // longer ones get no place
    std::vector<std::byte> room;
    std::atomic<bool> placing{false};
    std::vector<std::int32_t> placed;
    int delivered = 0;
    std::uint64_t sum = 0;
};

FetchHead fetch_head(std::uint64_t rest, std::uint32_t pieces) {
    FetchHead head{};
    head.rest = rest;
    head.head_size = 8;
    head.pieces = pieces;
    return head;
}

struct Fetch {
    FetchHead head;
    FetchPiece piece[2];
};

} // namespace

TEST_CASE("records of no known kind, or too short, break the link") {
    Peer peer;
    const std::uint64_t word = 1;
    SECTION("no kind") { peer.write(static_cast<Kind>(0), word); }
    SECTION("a later version's kind") { peer.write(static_cast<Kind>(77), word); }
    SECTION("area") { peer.write(Kind::area, word); }
    SECTION("fetch") { peer.write(Kind::fetch, word); }
    SECTION("stream") { peer.write(Kind::stream, word); }
    SECTION("a sample that there is not") {
        peer.bring_area();
        peer.write(Kind::area, AreaBody{0, 8, 8, kSamples + 1});
    }
    SECTION("a part without its message") { peer.write(Kind::chunk, AreaBody{0, 8, 8}); }
    CHECK(peer.broken());
    CHECK(peer.delivered == 0);
}

TEST_CASE("a message outside the area breaks the link") {
    Peer peer;
    const bool exists = GENERATE(true, false);
    if (exists) peer.bring_area();
    SECTION("behind the end") { peer.write(Kind::area, AreaBody{kAreaBytes, 1, 1}); }
    SECTION("over the end") { peer.write(Kind::area, AreaBody{kAreaBytes - 64, 65, 1}); }
    SECTION("so long that the sum wraps around") { peer.write(Kind::area, AreaBody{64, UINT64_MAX - 63, 1}); }
    SECTION("so far that the sum wraps around") { peer.write(Kind::area, AreaBody{UINT64_MAX - 63, 128, 1}); }
    SECTION("not aligned") { peer.write(Kind::area, AreaBody{3, 8, 1}); }
    CHECK(peer.broken());
    CHECK(peer.delivered == 0);
}

TEST_CASE("a message inside the area is delivered and released") {
    Peer peer;
    peer.bring_area();
    peer.write(Kind::area, AreaBody{kAreaBytes - 64, 64, 4711});
    CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
    CHECK(peer.delivered == 1);
    CHECK(peer.in.released == 4711);
}

TEST_CASE("an area that could be cut short breaks the link") {
    Peer peer;
    const UniqueFd loose(::memfd_create("test", MFD_CLOEXEC));
    REQUIRE(::ftruncate(loose.get(), kAreaBytes) == 0);
    const int fds[] = {loose.get()};
    REQUIRE(send_packet(peer.theirs.get(), kAreaPacket, fds));
    peer.write(Kind::area, AreaBody{0, 8, 8});
    CHECK(peer.broken());
}

TEST_CASE("a fetched message whose lengths don't add up breaks the link") {
    Peer peer;
    std::uint64_t source = 5;
    const auto address = reinterpret_cast<std::uintptr_t>(&source);
    const auto size = static_cast<std::uint32_t>(sizeof(FetchHead) + 2 * sizeof(FetchPiece));
    Fetch fetch{fetch_head(8, 2), {{address, 4}, {address, 4}}};
    SECTION("more pieces than the record holds") { fetch.head.pieces = 3; }
    SECTION("pieces beyond any record") { fetch.head.pieces = UINT32_MAX; }
    SECTION("a head that is too long") { fetch.head.head_size = 65; }
    SECTION("a sample that there is not") { fetch.head.sample = kSamples + 1; }
    SECTION("less than it says") { fetch.head.rest = 9; }
    SECTION("more than it says") { fetch.head.rest = 7; }
    SECTION("lengths that wrap around") { fetch.piece[1].size = UINT64_MAX - 2; }
    SECTION("lengths that wrap around to the right sum") {
        fetch.piece[0].size = 16;
        fetch.piece[1].size = UINT64_MAX - 7;
    }
    peer.write(Kind::fetch, fetch, size);
    CHECK(peer.broken());
    CHECK(peer.placed.empty());
}

TEST_CASE("what can't be read is asked for, once at a time; without an answer the message is lost alone") {
    Peer peer;
    const auto size = static_cast<std::uint32_t>(sizeof(FetchHead) + 2 * sizeof(FetchPiece));
    const std::uint64_t source = 7;
    const auto address = reinterpret_cast<std::uintptr_t>(&source);
    peer.write(Kind::fetch, Fetch{fetch_head(8, 2), {{address, 4}, {address + 4, 4}}}, size);
    CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
    for (std::uint64_t n = 1; n < 130; ++n) { // its bit is used again after 64
        const bool lost = n % 3 == 1;
        peer.write(Kind::fetch, Fetch{fetch_head(8, 2), {{8, 4}, {12, 4}}}, size);
        CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
        CHECK(peer.in.can_fetch == 1); // other addresses may be there
        CHECK(peer.in.asked == n);
        CHECK(peer.in.wanted_from == 0);
        CHECK(peer.receiver.is_held_up());
        CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 0);
        CHECK(peer.placed.size() == n);
        if (lost)
            REQUIRE(send_packet(peer.theirs.get(), kLostPacket));
        else
            peer.bring_part(&source, sizeof source);
        CHECK(peer.receiver.hear() == Receiver::Heard::part);
        CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
        CHECK(peer.placed.size() == n + 1);
        CHECK(peer.placed.back() == (lost ? PLEXUS_MESSAGE_LOST : PLEXUS_OK));
        if (!lost) CHECK(std::memcmp(peer.room.data(), &source, sizeof source) == 0);
        CHECK(peer.in.fetched == n + 1);
        CHECK((peer.in.fetch_failed >> n % 64 & 1) == (lost ? 1 : 0));
    }
}

TEST_CASE("bytes that nobody asked for, or too many at once, break the link") {
    Peer peer;
    const std::uint64_t source = 7;
    SECTION("nobody asked") { peer.bring_part(&source, sizeof source); }
    SECTION("lost is what nobody asked for") { REQUIRE(send_packet(peer.theirs.get(), kLostPacket)); }
    SECTION("an answer too many, a part without bytes, or too many") {
        const auto size = static_cast<std::uint32_t>(sizeof(FetchHead) + 2 * sizeof(FetchPiece));
        peer.write(Kind::fetch, Fetch{fetch_head(8, 2), {{8, 4}, {12, 4}}}, size);
        CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
        const int wrong = GENERATE(0, 1, 2);
        if (wrong == 0) {
            peer.bring_part(&source, sizeof source);
            CHECK(peer.receiver.hear() == Receiver::Heard::part);
            peer.bring_part(&source, sizeof source);
        } else if (wrong == 1) {
            REQUIRE(send_packet(peer.theirs.get(), kPartPacket));
        } else {
            const std::vector<std::byte> many(kMostPart + 1);
            peer.bring_part(many.data(), many.size());
        }
    }
    CHECK(peer.receiver.hear() == Receiver::Heard::nonsense);
    CHECK(peer.receiver.error() == "the peer sent what no peer sends");
}

TEST_CASE("a part that is longer than the message is read as far as the message goes") {
    Peer peer;
    const std::vector<std::byte> many(1000, std::byte{3});
    const auto size = static_cast<std::uint32_t>(sizeof(FetchHead) + 2 * sizeof(FetchPiece));
    peer.write(Kind::fetch, Fetch{fetch_head(8, 2), {{8, 4}, {12, 4}}}, size);
    CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
    peer.bring_part(many.data(), many.size());
    CHECK(peer.receiver.hear() == Receiver::Heard::part);
    CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
    CHECK(peer.placed == std::vector<std::int32_t>{PLEXUS_OK});
    CHECK(peer.room == std::vector<std::byte>(8, std::byte{3}));
}

TEST_CASE("a fetch from a peer that has gone is not believed") {
    Peer peer;
    const std::uint64_t source = 5; // readable all the same
    peer.theirs.reset();
    const auto size = static_cast<std::uint32_t>(sizeof(FetchHead) + 2 * sizeof(FetchPiece));
    const auto address = reinterpret_cast<std::uintptr_t>(&source);
    peer.write(Kind::fetch, Fetch{fetch_head(8, 2), {{address, 4}, {address + 4, 4}}}, size);
    CHECK(peer.broken());
    CHECK(peer.receiver.error() == "the peer's process ended");
}

TEST_CASE("a stream that doesn't keep its word breaks the link") {
    Peer peer;
    peer.bring_area();
    StreamHead head{};
    head.rest = 100;
    head.head_size = 8;
    SECTION("another message comes in between") {
        peer.write(Kind::stream, head);
        peer.write(Kind::message, std::uint64_t{1});
    }
    SECTION("another message comes in between, in the area") {
        peer.write(Kind::stream, head);
        peer.write(Kind::area, AreaBody{0, 64, 64});
    }
    SECTION("a part is longer than what is left") {
        peer.write(Kind::stream, head);
        peer.write(Kind::chunk, AreaBody{0, 64, 64});
        peer.write(Kind::chunk, AreaBody{64, 64, 128});
    }
    SECTION("a part is empty") {
        peer.write(Kind::stream, head);
        peer.write(Kind::chunk, AreaBody{0, 0, 0});
    }
    SECTION("it has nothing") {
        head.rest = 0;
        peer.write(Kind::stream, head);
    }
    SECTION("it names a sample that there is not") {
        head.sample = kSamples + 1;
        peer.write(Kind::stream, head);
    }
    SECTION("its head is too long") {
        head.head_size = 1 << 20;
        peer.write(Kind::stream, head);
    }
    CHECK(peer.broken());
    CHECK(peer.delivered == 0);
    CHECK(peer.placed.empty());
}

TEST_CASE("a message that the host refuses is taken off the ring, and the next one comes") {
    Peer peer;
    peer.bring_area();
    StreamHead head{};
    head.rest = 2 * kAreaBytes; // the host's place() refuses so much
    head.head_size = 8;
    peer.write(Kind::stream, head);
    for (std::uint64_t i = 0; i < 8; ++i) {
        peer.write(Kind::chunk, AreaBody{0, kAreaBytes / 4, i + 1});
        CHECK(peer.receiver.receive(&peer, 16, peer.gone) >= 1);
    }
    peer.write(Kind::message, std::uint64_t{1});
    CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
    CHECK(peer.delivered == 1);
    CHECK(peer.placed.empty());
}

TEST_CASE("a message to be fetched that the host refuses is answered, so that its sender may go on") {
    Peer peer;
    peer.most = 4;
    const std::uint64_t source = 5;
    const auto address = reinterpret_cast<std::uintptr_t>(&source);
    const auto size = static_cast<std::uint32_t>(sizeof(FetchHead) + 2 * sizeof(FetchPiece));
    peer.write(Kind::fetch, Fetch{fetch_head(8, 2), {{address, 4}, {address + 4, 4}}}, size);
    CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
    CHECK(peer.in.fetched == 1);
    CHECK(peer.in.fetch_failed == 0);
    CHECK(peer.placed.empty());
}

TEST_CASE("a placement that the link's end leaves unfinished is reported once") {
    Peer peer;
    peer.begin_stream();
    CHECK(peer.placed.empty());
    for (int i = 0; i < 2; ++i) peer.receiver.fail(&peer, false);
    CHECK(peer.placed == std::vector<std::int32_t>{PLEXUS_MESSAGE_LOST});
}

// The place belongs to the host again as soon as disconnect is back, although another thread copies into it.
TEST_CASE("nothing is written to a place after the link was given up") {
    constexpr std::byte kOurs{7};
    constexpr std::size_t kSize = 4 << 20;
    const std::vector<std::byte> source(kSize, std::byte{1});
    const auto address = reinterpret_cast<std::uintptr_t>(source.data());
    const auto size = static_cast<std::uint32_t>(sizeof(FetchHead) + 2 * sizeof(FetchPiece));
    for (int round = 0; round < 50; ++round) {
        Peer peer;
        peer.most = kSize;
        peer.write(Kind::fetch, Fetch{fetch_head(kSize, 2), {{address, kSize - 8}, {address + kSize - 8, 8}}},
                   size);
        std::thread poller([&] {
            while (!peer.gone && peer.placed.empty()) (void)peer.receiver.receive(&peer, 16, peer.gone);
        });
        while (!peer.placing) std::this_thread::yield();
        peer.receiver.give_up(peer.gone);
        std::fill(peer.room.begin(), peer.room.end(), kOurs);
        poller.join();
        REQUIRE(std::count(peer.room.begin(), peer.room.end(), kOurs) == static_cast<std::ptrdiff_t>(kSize));
    }
}

TEST_CASE("a stream's parts that come after the link was given up are dropped, and nothing is reported") {
    Peer peer;
    peer.begin_stream();
    peer.receiver.give_up(peer.gone);
    std::fill(peer.room.begin(), peer.room.end(), std::byte{7});
    peer.write(Kind::chunk, AreaBody{64, 64, 128});
    CHECK(peer.receiver.receive(&peer, 16, peer.gone) == 1);
    CHECK(peer.room == std::vector<std::byte>(128, std::byte{7}));
    CHECK(peer.placed.empty());
    peer.receiver.fail(&peer, true);
    CHECK(peer.placed.empty());
}

TEST_CASE("what comes by the socket of an open link and is no area breaks it") {
    Peer peer;
    using Heard = Receiver::Heard;
    UniqueFd fd;
    const auto memory = SealedMemory::create("test area", kAreaBytes, fd);
    const int fds[] = {fd.get(), fd.get()};
    CHECK(peer.receiver.hear() == Heard::nothing);
    SECTION("another word") {
        REQUIRE(send_packet(peer.theirs.get(), std::array<std::uint8_t, 4>{'a', 'r', 'e', 'b'}, {fds, 1}));
        CHECK(peer.receiver.hear() == Heard::nonsense);
    }
    SECTION("a longer one") {
        REQUIRE(send_packet(peer.theirs.get(), std::array<std::uint8_t, 5>{'a', 'r', 'e', 'a', 0}, {fds, 1}));
        CHECK(peer.receiver.hear() == Heard::nonsense);
    }
    SECTION("a shorter one") {
        REQUIRE(send_packet(peer.theirs.get(), std::array<std::uint8_t, 3>{'a', 'r', 'e'}, {fds, 1}));
        CHECK(peer.receiver.hear() == Heard::nonsense);
    }
    SECTION("no descriptor") {
        REQUIRE(send_packet(peer.theirs.get(), kAreaPacket));
        CHECK(peer.receiver.hear() == Heard::nonsense);
    }
    SECTION("two descriptors") {
        REQUIRE(send_packet(peer.theirs.get(), kAreaPacket, fds));
        CHECK(peer.receiver.hear() == Heard::nonsense);
    }
    SECTION("no memory") {
        const int other[] = {peer.mailbox.event_fd()};
        REQUIRE(send_packet(peer.theirs.get(), kAreaPacket, other));
        CHECK(peer.receiver.hear() == Heard::nonsense);
    }
    SECTION("a second area") {
        REQUIRE(send_packet(peer.theirs.get(), kAreaPacket, {fds, 1}));
        CHECK(peer.receiver.hear() == Heard::area);
        CHECK(peer.receiver.hear() == Heard::nothing); // it is taken out of the queue
        REQUIRE(send_packet(peer.theirs.get(), kAreaPacket, {fds, 1}));
        CHECK(peer.receiver.hear() == Heard::nonsense);
    }
    SECTION("the end") {
        peer.theirs.reset();
        CHECK(peer.receiver.hear() == Heard::end);
    }
}

} // namespace hostile_test
