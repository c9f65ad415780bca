// SPDX-License-Identifier: BSD-3-Clause
// The sending half of a link by itself: what it counts, and what it believes of a peer's words.
#include "support/catch.h"
#include "support/eventually.h"

#include "base/process_memory.h"
#include "plexus/module/module.h"
#include "shm/sender.h"
#include "shm/socket.h"

#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace sending_test {

using namespace plexus::shm;
using plexus::can_read;
using plexus::Cookie;
using plexus::CookieAt;
using plexus::RemoteBytes;
using plexus::SealedMemory;
using plexus::UniqueFd;
using plexus::testing::kSanitized;

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
        table.self = this;
        table.log = [](void* self, plexus_level, const char* text) {
            static_cast<Half*>(self)->log_lines.emplace_back(text);
        };
        table.sent = [](void* self, void*, std::int32_t status) {
            static_cast<Half*>(self)->ended.push_back(status);
        };
        table.writable = [](void* self) { ++static_cast<Half*>(self)->writable; };
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        mine.reset(ends[0]);
        theirs.reset(ends[1]);
        REQUIRE(mailbox.open());
        REQUIRE(doorbell.attach(mailbox.memory_fd(), UniqueFd(::dup(mailbox.event_fd())), 0, out, false));
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

    // The peer can't read the oldest message from there on. Returns the bytes that come: 0, none.
    std::uint64_t ask(std::uint64_t from) {
        out.wanted_from = from;
        out.asked = ++asked;
        CHECK(sender.has_news());
        CHECK(sender.settle(this, false) == 0);
        CHECK_FALSE(sender.has_news());
        std::array<std::uint8_t, kPartPacket.size()> room{};
        Packet packet = receive_packet(theirs.get(), room, true);
        if (packet.is != Packet::Is::here) return 0;
        if (room == kLostPacket) return kLost;
        REQUIRE((room == kPartPacket && packet.fd_count == 1));
        const SealedMemory part = SealedMemory::map(packet.fds[0].get(), 1, kMostPart);
        REQUIRE(part);
        CHECK(std::memcmp(part.data(), bytes.data() + 24 + from, part.size()) == 0);
        return part.size();
    }
    static constexpr std::uint64_t kLost = UINT64_MAX;

    plexus_host table{};
    Totals totals;
    std::unique_ptr<Line[]> lines;
    Direction out{};
    Mailbox mailbox;
    Doorbell doorbell;
    UniqueFd mine, theirs;
    Sender sender;
    std::vector<std::byte> bytes;
    std::uint64_t asked = 0;
    std::vector<std::int32_t> ended;
    std::vector<std::string> log_lines;
    int writable = 0;
};

/// The page around an address, for its lifetime.
class PageThatCannotBeRead {
  public:
    explicit PageThatCannotBeRead(std::byte* at)
      : page_(at - reinterpret_cast<std::uintptr_t>(at) % kPageBytes) {
        REQUIRE(::mprotect(page_, kPageBytes, PROT_NONE) == 0);
    }
    ~PageThatCannotBeRead() { ::mprotect(page_, kPageBytes, PROT_READ | PROT_WRITE); }
    PageThatCannotBeRead(const PageThatCannotBeRead&) = delete;
    PageThatCannotBeRead& operator=(const PageThatCannotBeRead&) = delete;

  private:
    std::byte* page_;
};

/// This process gets no further descriptor, for its lifetime.
class NoDescriptors {
  public:
    NoDescriptors() {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        const rlimit none{0, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    }
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit before_{};
};

/// Memory whose first reader waits until go_on(), in a signal handler, 10 s at most. One at a time.
class SlowMemory {
  public:
    SlowMemory() {
        is_read_ = may_go_on_ = was_late_ = false;
        memory_ = ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory_ != MAP_FAILED);
        struct sigaction action {};
        action.sa_handler = [](int) { wait(); };
        REQUIRE(::sigaction(SIGSEGV, &action, &before_) == 0);
    }
    ~SlowMemory() {
        ::sigaction(SIGSEGV, &before_, nullptr);
        ::munmap(memory_, kSize);
    }
    SlowMemory(const SlowMemory&) = delete;
    SlowMemory& operator=(const SlowMemory&) = delete;

    static const void* data() { return memory_; }
    static bool is_being_read() { return is_read_; }
    /// False: the reader has not waited so long.
    static bool go_on() {
        may_go_on_ = true;
        return !was_late_;
    }

  private:
    static constexpr std::size_t kSize = 2 * kPageBytes;
    static void wait() {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        is_read_ = true;
        while (!may_go_on_ && !was_late_) was_late_ = std::chrono::steady_clock::now() > until;
        ::mprotect(memory_, kSize, PROT_READ);
    }

    static inline std::atomic<bool> is_read_{false}, may_go_on_{false}, was_late_{false};
    static inline void* memory_ = nullptr;
    struct sigaction before_ {};
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

TEST_CASE("a peer that can't read a posted message gets what follows from where it asks, each byte once") {
    constexpr std::uint64_t kRest = 2 * kMostPart + 100;
    Half half(true);
    for (int message = 0; message < 2; ++message) {
        REQUIRE(half.send(24 + kRest) == PLEXUS_POSTED);
        for (std::size_t i = 0; i < half.bytes.size(); ++i)
            half.bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
        CHECK(half.ask(kRest) == 0);
        CHECK(half.ask(UINT64_MAX) == 0);
        CHECK(half.ask(99) == kMostPart);
        CHECK(half.ask(99) == 0);
        CHECK(half.ask(0) == 0);
        CHECK(half.ask(98 + kMostPart) == 0);
        CHECK(half.ask(99 + kMostPart) == kMostPart);
        CHECK(half.ask(99 + 2 * kMostPart) == 1);
        CHECK(half.ask(kRest - 1) == 0);
        CHECK(half.ask(0) == 0);
        half.out.fetched = static_cast<std::uint64_t>(message) + 1;
        CHECK(half.sender.settle(&half, false) == 1);
    }
    ++half.out.asked; // nothing is posted
    CHECK_FALSE(half.sender.has_news());
    CHECK(half.sender.settle(&half, false) == 0);
    CHECK(half.ended == std::vector<std::int32_t>{PLEXUS_OK, PLEXUS_OK});
    CHECK(half.log_lines.empty());
}

TEST_CASE("bytes that can't be copied for the peer are said to be lost once, and what helps is in the log") {
    Half half(true);
    REQUIRE(half.send(24 + 2 * kMostPart) == PLEXUS_POSTED);
    const char* help = "";
    SECTION("they are not mapped any more") {
        const PageThatCannotBeRead page(half.bytes.data() + kMostPart);
        help = "copying the message failed (Bad address); keep what is sent mapped until it is delivered";
        CHECK(half.ask(100) == Half::kLost);
        CHECK(half.ask(100) == 0);
    }
    SECTION("there is no descriptor for them") {
        const NoDescriptors none;
        help =
            "copying the message failed (Too many open files); raise the process's limits, or set cma = off";
        CHECK(half.ask(100) == Half::kLost);
        CHECK(half.ask(100) == 0);
    }
    CHECK(half.ask(100) == 0);
    CHECK(half.ask(2 * kMostPart - 1) == 0);
    REQUIRE(half.log_lines.size() == 1);
    CHECK(half.log_lines[0] == std::string("a message that the peer can't read is lost: ") + help);
}

TEST_CASE("what was measured is told again without waiting for a message that is being copied") {
    if (kSanitized) SKIP_TEST("a sanitizer has its own way with signals");
    constexpr std::uint64_t kCopied = 8'000;
    Half half;
    const auto cost = [&] { return half.sender.learned()[CopyChoice::class_of(kCopied)].cost(Copy::cached); };
    for (std::uint64_t i = 1; i <= 500 && cost() == 0; ++i) { // the peer takes each message, and says at once
        REQUIRE(half.send(kCopied) == PLEXUS_OK);
        for (auto& spent : half.out.spent) spent = 1'000;
        half.out.consumed = i;
        half.out.released = i * kCopied;
    }
    const float measured = cost();
    REQUIRE(measured > 0);
    SlowMemory slow;
    const plexus_view pieces[2]{{half.bytes.data(), 24}, {slow.data(), 8'000}};
    bool streaming = false;
    std::int32_t status = PLEXUS_LINK_LOST;
    std::thread sends([&] { status = half.sender.send(pieces, 2, &half, streaming); });
    const bool reads =
        plexus::testing::eventually(std::chrono::seconds(20), [&] { return slow.is_being_read(); });
    const float meanwhile = cost();
    CHECK(slow.go_on());
    sends.join();
    CHECK(reads);
    CHECK(status == PLEXUS_OK);
    CHECK(meanwhile == measured);
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

TEST_CASE("what is behind a head may be as long as `eager`, and goes into the area whole") {
    const std::size_t more = GENERATE(0, 1);
    Half half;
    constexpr std::size_t kHead = 24;                        // of what send() sends
    CHECK(half.send(kHead + kArea / 4 + more) == PLEXUS_OK); // such a short stream is sent at once, too
    RingReader ring;
    ring.attach(half.lines.get(), kLines, half.out.consumed);
    RingReader::Record record{};
    REQUIRE(ring.look(record) == RingReader::Look::record);
    CHECK(record.kind == (more == 0 ? Kind::area : Kind::stream));
    if (more > 0) return;
    CHECK(half.send(kHead + kArea / 4) == PLEXUS_OK); // the receiver reads the first one meanwhile
    CHECK(half.ended.empty());
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
