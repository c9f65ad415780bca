// SPDX-License-Identifier: BSD-3-Clause
// Bells and sleep: no message is left lying, however ring, answer and sleep interleave.
#include "support/catch.h"
#include "support/eventually.h"

#include "shm/doorbell.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace doorbell_test {

using namespace plexus::shm;
using namespace plexus::testing;

namespace {

bool readable(int fd, int limit_ms) {
    pollfd look{fd, POLLIN, 0};
    return ::poll(&look, 1, limit_ms) == 1;
}

struct Ringer {
    Ringer(Mailbox& mailbox, std::uint32_t bit) {
        direction.attention = Direction::doorbell;
        attached = doorbell.attach(mailbox.memory_fd(), plexus::UniqueFd(::dup(mailbox.event_fd())), bit,
                                   direction, false);
    }
    Direction direction{};
    Doorbell doorbell;
    bool attached = false;
};

} // namespace

TEST_CASE("every bit that was set is answered once, others are not") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    const std::set<std::uint32_t> rung{0, 1, 63, 64, 1000, MailboxPage::kBits - 1};
    for (const std::uint32_t bit : rung) {
        Ringer ringer(mailbox, bit);
        REQUIRE(ringer.attached);
        ringer.doorbell.notify();
        ringer.doorbell.notify();
    }
    std::multiset<std::uint32_t> answered;
    mailbox.take(17, [&](std::uint32_t bit) { answered.insert(bit); });
    CHECK(answered == std::multiset<std::uint32_t>(rung.begin(), rung.end()));
    CHECK_FALSE(mailbox.rung());
}

TEST_CASE("a bit that no mailbox has is refused") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    CHECK_FALSE(Ringer(mailbox, MailboxPage::kBits).attached);
}

TEST_CASE("bits are answered in the order of their numbers, from the given one round") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    const std::vector<std::uint32_t> rung{0, 5, 63, 64, 70, 127, 1000, MailboxPage::kBits - 1};
    for (const std::uint32_t first :
         {0u, 1u, 5u, 6u, 63u, 64u, 65u, 70u, 100u, 128u, 1001u, MailboxPage::kBits - 1}) {
        for (const std::uint32_t bit : rung) mailbox.ring(bit);
        std::vector<std::uint32_t> answered;
        mailbox.take(first, [&](std::uint32_t bit) { answered.push_back(bit); });
        std::vector<std::uint32_t> expected = rung;
        std::rotate(expected.begin(), std::lower_bound(expected.begin(), expected.end(), first),
                    expected.end());
        CAPTURE(first);
        CHECK(answered == expected);
        CHECK_FALSE(mailbox.rung());
    }
}

// A write into one of these would block the thread that sends, or end the process by SIGPIPE.
TEST_CASE("what a peer passes instead of an eventfd is refused") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    const auto refused = [&](int fd) {
        Direction direction{};
        Doorbell doorbell;
        errno = 0;
        const bool attached =
            doorbell.attach(mailbox.memory_fd(), plexus::UniqueFd(::dup(fd)), 0, direction, false);
        return !attached && errno == EINVAL;
    };
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    plexus::UniqueFd reader(ends[0]);
    const plexus::UniqueFd writer(ends[1]);
    SECTION("a pipe that is full") {
        const std::array<char, 4096> bytes{};
        while (::write(writer.get(), bytes.data(), bytes.size()) > 0) {}
        REQUIRE(::fcntl(writer.get(), F_SETFL, 0) == 0);
        CHECK(refused(writer.get()));
    }
    SECTION("a pipe that nobody reads") {
        reader.reset();
        CHECK(refused(writer.get()));
    }
    SECTION("a socket") {
        int sockets[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
        const plexus::UniqueFd one(sockets[0]);
        ::close(sockets[1]);
        CHECK(refused(one.get()));
    }
    SECTION("a file") { CHECK(refused(mailbox.memory_fd())); }
    SECTION("another kind without a name") {
        const plexus::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
        CHECK(refused(epoll.get()));
    }
    SECTION("an eventfd that blocks its writer") {
        const plexus::UniqueFd blocking(::eventfd(0, EFD_CLOEXEC));
        CHECK(refused(blocking.get()));
    }
    SECTION("nothing") { CHECK(refused(-1)); }
    CHECK(Ringer(mailbox, 0).attached);
}

TEST_CASE("an eventfd that cannot count any further does not stop the ringer") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    Ringer ringer(mailbox, 5);
    const std::uint64_t most = UINT64_MAX - 1;
    REQUIRE(::write(mailbox.event_fd(), &most, sizeof most) == sizeof most);
    mailbox.fall_asleep();
    ringer.doorbell.notify();
    CHECK(mailbox.rung());
    CHECK(readable(mailbox.event_fd(), 0));
}

TEST_CASE("who is polled directly does not ring, and a waking mailbox writes no event") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    Ringer ringer(mailbox, 5);
    ringer.direction.attention = Direction::direct;
    ringer.doorbell.notify();
    CHECK_FALSE(mailbox.rung());
    ringer.direction.attention = Direction::doorbell;
    ringer.doorbell.notify();
    CHECK(mailbox.rung());
    CHECK_FALSE(readable(mailbox.event_fd(), 0));
}

TEST_CASE("a sleeper is woken by the first notification, and once") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    Ringer ringer(mailbox, 5);
    mailbox.fall_asleep();
    ringer.doorbell.notify();
    CHECK(readable(mailbox.event_fd(), 0));
    mailbox.clear_event();
    ringer.doorbell.notify();
    CHECK_FALSE(readable(mailbox.event_fd(), 0));
}

// The whole race of Module::arm: messages are counters, a turn is answer, look, sleep. A wake-up
// that got lost would leave the sleeper asleep with messages unread.
TEST_CASE("no ring is lost between the last look and the sleep") {
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    constexpr std::uint32_t kRingers = 3;
    constexpr std::uint64_t kMessages = kSanitized ? 3'000 : 30'000;
    std::atomic<std::uint64_t> sent[kRingers] = {};
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < kRingers; ++i) {
        threads.emplace_back([&, i] {
            Ringer ringer(mailbox, i * 64); // in different words: the summary is contended too
            for (std::uint64_t m = 1; m <= kMessages; ++m) {
                sent[i].store(m, std::memory_order_release);
                ringer.doorbell.notify();
                if (m % 16 == 0) std::this_thread::yield();
            }
        });
    }
    std::uint64_t seen[kRingers] = {};
    bool stuck = false;
    std::uint32_t turn = 0;
    const auto complete = [&] { return seen[0] + seen[1] + seen[2] == kRingers * kMessages; };
    while (!complete() && !stuck) {
        mailbox.take(turn++, [&](std::uint32_t bit) {
            seen[bit / 64] = sent[bit / 64].load(std::memory_order_acquire);
        });
        if (complete()) break;
        mailbox.fall_asleep();
        full_barrier(false);
        if (!mailbox.rung()) stuck = !readable(mailbox.event_fd(), 5'000 * kPatience);
        mailbox.stay_awake();
        mailbox.clear_event();
    }
    CHECK_FALSE(stuck);
    for (std::thread& thread : threads) thread.join();
}

} // namespace doorbell_test
