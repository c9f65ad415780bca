// SPDX-License-Identifier: BSD-3-Clause
// Timers reach every way of waiting: a lane that asks to be polled after some time is polled then,
// whether a thread waits, a blocking lane's own thread watches, or a foreign event loop sleeps on fd().
#include "fake_lane.h"
#include "in_time.h"
#include "poll/scheduler.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <poll.h>

namespace timers_test {

using namespace plexus::testing;
using plexus::poll::Scheduler;
using plexus::poll::SchedulerOptions;

namespace {

using Clock = Scheduler::Clock;
constexpr SchedulerOptions kSleepy{0us, 0us, 1ms, 0.01};
constexpr std::uint64_t kNapNs = 3'000'000;

bool readable(int fd, std::chrono::milliseconds limit) {
    pollfd look{fd, POLLIN, 0};
    return ::poll(&look, 1, static_cast<int>(limit.count())) == 1;
}

/// A foreign event loop: sleeps without a limit of its own until `done()`.
template <class Done>
bool loop_until(Scheduler& scheduler, Done done) {
    while (!done()) {
        if (scheduler.arm() && !readable(scheduler.fd(), 5s * kPatience)) return done();
        scheduler.progress();
    }
    return true;
}

} // namespace

TEST_CASE("a blocking lane is polled when its timer has run out, though its descriptor is quiet") {
    FakeLane lane;
    lane.nap_ns = kNapNs;
    Scheduler scheduler({});
    auto source = lane.source();
    source.blocking = true;
    scheduler.add(source);
    const auto start = Clock::now();
    for (std::uint64_t i = 1; i <= 5; ++i) {
        const auto before = lane.polls.load();
        REQUIRE(eventually(5s, [&] {
            scheduler.progress();
            return lane.polls > before;
        }));
    }
    CHECK(Clock::now() - start >= 3ms);
    CHECK(lane.polls < 1'000); // by the timer, not in every turn
}

TEST_CASE("the timer of a blocking lane wakes a thread that sleeps") {
    FakeLane lane;
    lane.nap_ns = kNapNs;
    Scheduler scheduler(kSleepy);
    auto source = lane.source();
    source.blocking = true;
    scheduler.add(source);
    CHECK(in_time(scheduler, [&] { return lane.polls >= 6; }));
}

TEST_CASE("a foreign event loop is woken when a lane's timer has run out") {
    FakeLane lane;
    Scheduler scheduler({});
    auto source = lane.source();
    source.blocking = GENERATE(false, true);
    CAPTURE(source.blocking);
    lane.nap_ns = kNapNs;
    scheduler.add(source);
    CHECK(loop_until(scheduler, [&] { return lane.polls >= 6; }));
}

TEST_CASE("a foreign event loop is woken when the deferred work is due") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    int runs = 0;
    scheduler.set_deferred_work([&] {
        ++runs;
        if (runs == 5) return std::chrono::nanoseconds::max();
        return std::chrono::nanoseconds(runs % 2 == 0 ? 2ms : 0ms);
    });
    scheduler.request_deferred_work();
    CHECK(loop_until(scheduler, [&] { return runs == 5; }));
}

TEST_CASE("a foreign event loop that arms after the deferred work is due is woken at once") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    int runs = 0;
    scheduler.set_deferred_work(
        [&] { return ++runs == 1 ? std::chrono::nanoseconds(1ms) : std::chrono::nanoseconds::max(); });
    scheduler.request_deferred_work();
    (void)scheduler.arm(); // wake() was called
    scheduler.progress();
    REQUIRE(runs == 1);
    std::this_thread::sleep_for(5ms);
    while (!scheduler.arm()) {}
    CHECK(readable(scheduler.fd(), 10s * kPatience));
    scheduler.progress();
    CHECK(runs == 2);
}

TEST_CASE("a foreign event loop is not woken for a time that is not wanted any more") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    lane.nap_ns = kNapNs;
    while (!scheduler.arm()) scheduler.progress();
    REQUIRE(readable(scheduler.fd(), 10s * kPatience));
    scheduler.progress();
    lane.nap_ns = UINT64_MAX;
    while (!scheduler.arm()) scheduler.progress();
    CHECK_FALSE(readable(scheduler.fd(), 20ms));
}

TEST_CASE("a foreign event loop asks a lane that cannot wake anybody") {
    FakeLane lane;
    Scheduler scheduler({});
    auto source = lane.source();
    source.sleeps = false;
    scheduler.add(source);
    for (std::uint64_t i = 1; i <= 5; ++i) {
        while (!scheduler.arm()) scheduler.progress();
        lane.post_unseen();
        CHECK(loop_until(scheduler, [&] { return lane.taken == i; }));
    }
}

TEST_CASE("a foreign event loop that armed while another thread polled is woken when that thread leaves") {
    FakeLane lane;
    lane.rings_when_armed = true;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    for (std::uint64_t i = 1; i <= 5; ++i) {
        const auto arms = lane.arms.load();
        std::atomic<bool> left{false};
        std::thread other([&] { // leaves by itself: no wake() tells anybody
            scheduler.wait_for_true([] { return false; }, Clock::now() + 100ms);
            left = true;
        });
        const bool leads = eventually(5s, [&] { return lane.arms > arms; }); // and sleeps
        while (!scheduler.arm()) scheduler.progress();
        const bool beside = !left;
        other.join();
        REQUIRE(leads);
        if (beside) CHECK(readable(scheduler.fd(), 5s * kPatience)); // armed before, polled since
        lane.post();
        CHECK(loop_until(scheduler, [&] { return lane.taken == i; }));
    }
}

TEST_CASE("a foreign event loop beside a thread that polls now and then loses nothing") {
    FakeLane lane;
    lane.rings_when_armed = true;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    constexpr std::uint64_t kRounds = 1'000;
    std::atomic<bool> stop{false};
    std::thread visitor([&] {
        while (!stop) scheduler.wait_for_true([&] { return stop.load(); }, Clock::now() + 500us);
    });
    std::atomic<bool> lost{false};
    std::thread loop([&] {
        if (!loop_until(scheduler, [&] { return stop.load(); })) lost = true;
    });
    bool all = true;
    for (std::uint64_t i = 1; all && i <= kRounds; ++i) {
        lane.post();
        all = eventually(5s, [&] { return lane.taken == i; });
    }
    CHECK(all);
    stop = true;
    scheduler.wake();
    visitor.join();
    loop.join();
    CHECK_FALSE(lost);
    CHECK_FALSE(lane.crowded);
}

TEST_CASE("a foreign event loop that was woken before it armed is told to look again") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    for (int round = 0; round < 3; ++round) {
        while (!scheduler.arm()) scheduler.progress();
        readable(scheduler.fd(), 0ms);
        scheduler.progress();
        scheduler.wake(); // something that the loop waits for came between its look and arm()
        CHECK_FALSE(scheduler.arm());
        CHECK(scheduler.arm());
    }
}

TEST_CASE("a foreign event loop rests beside the progress thread, and is woken for what comes") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    scheduler.start_progress_thread();
    int woken = 0;
    const bool rested = eventually(20s, [&] {
        while (!scheduler.arm()) scheduler.progress();
        if (!readable(scheduler.fd(), 200ms)) return true;
        ++woken;
        return false;
    });
    CAPTURE(woken);
    CHECK(rested);
    for (std::uint64_t i = 1; i <= 5; ++i) {
        while (!scheduler.arm()) scheduler.progress();
        lane.post();
        CHECK(readable(scheduler.fd(), 5s * kPatience));
        CHECK(loop_until(scheduler, [&] { return lane.taken == i; }));
    }
    scheduler.stop();
}

} // namespace timers_test
