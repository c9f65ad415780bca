// SPDX-License-Identifier: BSD-3-Clause
// Messages that the receiver reads from the sender's memory, when the kernel begins to refuse that, or the
// sender dies meanwhile.
#include "forbid_reading.h"
#include "parts.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include "shm/socket.h"

#include <csignal>
#include <thread>

namespace refusals_test {

using namespace plexus::testing;
using plexus::shm::kMostPart;

namespace {

constexpr std::size_t kHead = 24;
constexpr const char kRefused[] = "reading a message from the peer's memory failed: Operation not permitted";

/// Runs `work` in a thread that may read no other process's memory, not even by way of the kernel.
template <class Work>
bool without_reads(Work&& work) {
    bool done = false;
    std::thread([&] { done = forbid_reading() && work(); }).join();
    return done;
}

bool filters_are_allowed() {
    return without_reads([] { return true; });
}

bool arrive(Pair& pair, const std::vector<std::shared_ptr<const Bytes>>& sent) {
    for (const auto& message : sent) {
        const auto there = pair.to_a->take();
        if (!there || *there != *message) return false;
    }
    return true;
}

} // namespace

TEST_CASE(
    "a read that the kernel refuses in mid-run loses no message: they come by copies, whole and in order") {
    if (!filters_are_allowed()) SKIP_TEST("seccomp filters are not allowed here");
    const std::size_t rest =
        GENERATE(std::size_t{1}, kMostPart - 1, kMostPart, kMostPart + 1, 8 * kMostPart + 12'345);
    const bool begun = GENERATE(false, true); // the first message is read in part before
    CAPTURE(rest, begun);
    Pair pair(shm(), with({{"copy", "cma"}, {"eager", "64"}, {"inline", "56"}}));
    std::vector<std::shared_ptr<const Bytes>> sent;
    const auto push = [&](std::size_t size) {
        sent.push_back(numbered(size, static_cast<std::uint8_t>(sent.size() + 1)));
        return pair.a.push(*pair.to_b, sent.back());
    };
    REQUIRE(push(kHead + 1'000));
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
    for (int i = 0; i < 3; ++i) {
        REQUIRE(push(kHead + rest));
        REQUIRE(push(30));
        REQUIRE(push(kHead + 5'000));
    }
    if (begun) pair.b.poll(1);
    const auto expected = expect_warning(kRefused);
    REQUIRE(without_reads([&] {
        return pair.pump(20s, [&] {
            return pair.to_a->received() == sent.size() && pair.to_b->completed() == pair.to_b->posted();
        });
    }));
    CHECK(arrive(pair, sent));
    REQUIRE(expected.count() == 1);
    CHECK(expected.lines()[0].find("permit cross-memory attach, or set cma = off") != std::string::npos);
    // The link stays, and reads nothing any more.
    sent.clear();
    const std::uint64_t before = pair.to_a->received();
    REQUIRE(push(kHead + rest));
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == before + 1; }));
    CHECK(arrive(pair, sent));
    CHECK(expected.count() == 1);
}

TEST_CASE("a link that chooses by measurement goes on without reads once they are refused") {
    if (!filters_are_allowed()) SKIP_TEST("seccomp filters are not allowed here");
    Pair pair(shm(), with({{"eager", "4 KiB"}}));
    std::vector<std::shared_ptr<const Bytes>> sent;
    const auto exchange = [&](int rounds) {
        sent.clear();
        const std::uint64_t before = pair.to_a->received();
        for (int i = 0; i < rounds; ++i) {
            sent.push_back(numbered(50'000, static_cast<std::uint8_t>(i)));
            if (!pair.a.push(*pair.to_b, sent.back())) return false;
            if (!pair.pump(10s, [&] { return pair.to_a->received() == before + sent.size(); })) return false;
        }
        return arrive(pair, sent);
    };
    REQUIRE(exchange(100));
    const auto expected = expect_warning(kRefused);
    CHECK(without_reads([&] { return exchange(700); }));
    CHECK(expected.count() <= 1); // none if no trial tried it
    CHECK(exchange(100));
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == pair.to_b->posted(); }));
}

TEST_CASE("a sleeping sender wakes for what the receiver could not read") {
    if (!filters_are_allowed()) SKIP_TEST("seccomp filters are not allowed here");
    Pair pair(shm(), with({{"copy", "cma"}, {"eager", "64"}, {"inline", "56"}}));
    const auto message = numbered(100'000, 1);
    REQUIRE(pair.a.push(*pair.to_b, message));
    std::uint64_t sleep_ns = UINT64_MAX;
    REQUIRE(eventually(10s, [&] {
        pair.a.poll();
        return pair.a.arm(&sleep_ns) == PLEXUS_OK;
    }));
    const auto expected = expect_warning(kRefused);
    REQUIRE(without_reads([&] {
        pair.b.poll();
        return pair.a.sleep(10s) && pair.pump(10s, [&] { return pair.to_a->received() == 1; });
    }));
    CHECK(pair.to_a->take() == *message);
}

TEST_CASE("what can't be read is lost with a link that is given up, and reported") {
    if (!filters_are_allowed()) SKIP_TEST("seccomp filters are not allowed here");
    Pair pair(shm(), with({{"copy", "cma"}, {"eager", "64"}, {"inline", "56"}}));
    std::int32_t ended = PLEXUS_OK;
    pair.a.hooks.sent = [&](End&, std::int32_t status) { ended = status; };
    REQUIRE(pair.a.push(*pair.to_b, numbered(3 * kMostPart, 1)));
    const auto expected = expect_warning(kRefused);
    REQUIRE(without_reads([&] {
        for (int i = 0; i < 3; ++i) pair.b.poll(); // it asks
        return true;
    }));
    pair.b.disconnect(*pair.to_a);
    REQUIRE(pair.pump(10s, [&] { return pair.to_b->is_lost(); }));
    CHECK(ended == PLEXUS_MESSAGE_LOST);
    CHECK(pair.to_b->lost_why() == "the peer closed the link");
}

TEST_CASE(
    "a peer that dies while its memory is read breaks the link, and its message is not taken for whole") {
    if (!filters_are_allowed()) SKIP_TEST("seccomp filters are not allowed here");
    const bool refused = GENERATE(false, true); // or while it copies what could not be read
    CAPTURE(refused);
    constexpr std::size_t kSize = 64 << 20;
    Process remote([](Channel& channel) {
        BareHost host(shm(), with({{"copy", "cma"}}));
        introduce(host, channel);
        if (!pump({&host}, 10s, [&] { return host.incoming_count() == 1; })) return 2;
        End* const end = host.incoming().front();
        if (!host.push(*end, numbered(kSize, 1))) return 3;
        (void)pump({&host}, 60s, [] { return false; }); // until it is killed
        return 0;
    });
    BareHost host(shm());
    End* const end = meet(host, remote.channel());
    REQUIRE(end != nullptr);
    std::atomic<bool> placing{false};
    host.hooks.place = [&](End&, std::size_t) {
        placing = true;
        return PLEXUS_OK;
    };
    const auto expected = expect_warning(kRefused);
    const auto work = [&] {
        if (!pump({&host}, 10s, [&] { return placing.load(); })) return false;
        host.poll(1);
        remote.kill(SIGKILL);
        return pump({&host}, 10s, [&] { return end->is_lost(); });
    };
    CHECK((refused ? without_reads(work) : work()));
    CHECK(end->received() == 0);
    CHECK((end->lost_status() == PLEXUS_PEER_LOST || end->lost_status() == PLEXUS_LINK_LOST));
    CHECK(expected.count() <= 1);
}

} // namespace refusals_test
