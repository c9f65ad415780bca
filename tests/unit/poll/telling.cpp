// SPDX-License-Identifier: BSD-3-Clause
// Threads that follow, and how they are told: by every change that they may wait for, at once and not at
// their next look. A sleep between two looks is kFollowerNap long (50 ms); of many rounds the best shows
// whether somebody was told, however busy the machine is.
#include "fake_lane.h"
#include "poll/followers.h"
#include "poll/scheduler.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <sys/resource.h>

namespace telling_test {

using namespace plexus::testing;
using plexus::poll::Followers;
using plexus::poll::Scheduler;
using plexus::poll::SchedulerOptions;

namespace {

using Clock = Scheduler::Clock;
constexpr SchedulerOptions kSleepy{0us, 0us, 1ms, 0.01};
constexpr int kRounds = 20;
constexpr auto kAtOnce = 25ms; // of the nap some 45 ms are left when the change comes

/// A leader that sleeps and a follower beside it.
struct Led {
    Led() { scheduler.add(lane.source()); }
    ~Led() {
        stop = true;
        scheduler.wake();
        if (leader.joinable()) leader.join();
    }
    bool sleeps() {
        const auto arms = lane.arms.load();
        if (!leader.joinable())
            leader = std::thread([this] { scheduler.wait_for_true([this] { return stop.load(); }); });
        return eventually(10s, [&] { return lane.arms > arms; });
    }
    /// The shortest time from `change` until a follower whose condition it meets has left.
    template <class Holds, class Change>
    Clock::duration shortest(Holds holds, Change change) {
        auto best = Clock::duration::max();
        for (int round = 0; round < kRounds; ++round) {
            std::atomic<int> looks{0};
            Clock::time_point left;
            std::thread follower([&] {
                scheduler.wait_for_true(
                    [&] {
                        ++looks;
                        return holds(round);
                    },
                    Clock::now() + 20s * kPatience);
                left = Clock::now();
            });
            // It has looked once more than it does before it sleeps.
            (void)eventually(10s, [&] { return looks > 64; });
            std::this_thread::sleep_for(2ms);
            const auto start = Clock::now();
            change(round);
            follower.join();
            best = std::min(best, left - start);
        }
        return best;
    }

    FakeLane lane;
    Scheduler scheduler{kSleepy};
    std::atomic<bool> stop{false};
    std::thread leader;
};

} // namespace

TEST_CASE("one thread that sleeps is told, and so are several") {
    Followers followers;
    for (const int count : {1, 3}) {
        std::atomic<int> asleep{0};
        std::atomic<int> woken{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([&] {
                const auto deadline = Clock::now() + 60s * kPatience;
                followers.sleep(deadline, [&] { return ++asleep > 0; });
                woken += Clock::now() < deadline;
            });
        REQUIRE(eventually(20s, [&] { return asleep == count; }));
        // Each has looked; those that are not asleep yet are told again.
        CHECK(eventually(20s, [&] {
            followers.tell();
            std::this_thread::sleep_for(1ms);
            return woken == count;
        }));
        for (auto& thread : threads) thread.join();
    }
}

TEST_CASE("a thread whose condition holds when it is about to sleep does not sleep") {
    Followers followers;
    const auto deadline = Clock::now() + 20s * kPatience;
    followers.sleep(deadline, [] { return false; });
    CHECK(Clock::now() < deadline);
}

TEST_CASE("a follower is told of what a turn has handled") {
    Led led;
    REQUIRE(led.sleeps());
    const auto took = led.shortest([&](int round) { return led.lane.taken > static_cast<unsigned>(round); },
                                   [&](int) { led.lane.post(); });
    CHECK(took < kAtOnce);
}

TEST_CASE("a follower is told by wake() of what came outside of a turn") {
    Led led;
    REQUIRE(led.sleeps());
    std::atomic<int> value{-1};
    const auto took = led.shortest([&](int round) { return value >= round; },
                                   [&](int round) {
                                       value = round;
                                       led.scheduler.wake();
                                   });
    CHECK(took < kAtOnce);
}

TEST_CASE("a follower takes over at once when a foreign event loop has armed and leaves") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    std::atomic<bool> hold{false};
    std::atomic<int> looks{0};
    std::atomic<std::uint64_t> polls{0};
    std::thread follower;
    Clock::time_point left;
    Clock::time_point took_over;
    lane.on_arm = [&] { // the event loop leads now
        if (!hold.exchange(false)) return;
        looks = 0;
        polls = lane.polls.load();
        follower = std::thread([&] {
            scheduler.wait_for_true(
                [&] {
                    ++looks;
                    return lane.polls > polls;
                },
                Clock::now() + 20s * kPatience);
            took_over = Clock::now();
        });
        (void)eventually(10s, [&] { return looks > 64; });
        std::this_thread::sleep_for(2ms);
        left = Clock::now();
    };
    scheduler.add(lane.source());
    auto best = Clock::duration::max();
    for (int round = 0; round < kRounds; ++round) {
        for (hold = true; !follower.joinable();)
            if (!scheduler.arm()) scheduler.progress();
        follower.join();
        best = std::min(best, took_over - left);
    }
    CHECK(best < kAtOnce);
}

TEST_CASE("a follower's wait ends at its deadline although the leader sleeps on") {
    Led led;
    REQUIRE(led.sleeps());
    const auto start = Clock::now();
    CHECK_FALSE(led.scheduler.wait_for_true([] { return false; }, start + 30ms));
    CHECK(Clock::now() - start < 20s * kPatience);
}

TEST_CASE("a thread that waits takes the polling over from the progress thread of a busy context") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source(1));
    std::atomic<bool> busy{true};
    std::atomic<std::thread::id> polled_by{};
    lane.on_poll = [&] {
        polled_by = std::this_thread::get_id();
        if (busy) lane.post(); // never quiet
    };
    lane.post();
    scheduler.start_progress_thread();
    REQUIRE(eventually(10s, [&] { return lane.polls > 1'000; }));
    const auto self = std::this_thread::get_id();
    CHECK(scheduler.wait_for_true([&] { return polled_by.load() == self; }, Clock::now() + 20s * kPatience));
    busy = false;
}

TEST_CASE("the progress thread polls again after a thread that waited, and slept, has left") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    scheduler.start_progress_thread();
    for (std::uint64_t i = 1; i <= 10; ++i) {
        const auto arms = lane.arms.load();
        CHECK_FALSE(scheduler.wait_for_true([] { return false; }, Clock::now() + 20ms));
        CHECK(lane.arms > arms); // it has slept
        lane.post();
        REQUIRE(eventually(10s, [&] { return lane.taken == i; }));
    }
}

TEST_CASE("nobody is woken while the thread that polls sleeps") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    scheduler.start_progress_thread();
    const auto switches = [] {
        rusage use{};
        ::getrusage(RUSAGE_SELF, &use);
        return use.ru_nvcsw;
    };
    const auto before = switches();
    CHECK_FALSE(scheduler.wait_for_true([] { return false; }, Clock::now() + 300ms));
    CHECK(switches() - before < 60); // a thread that looks each millisecond comes to 300
}

TEST_CASE("the progress thread that slept looks again after the program has polled what it had armed") {
    FakeLane lane;
    lane.rings_when_armed = true;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    scheduler.start_progress_thread();
    for (std::uint64_t i = 1; i <= 10; ++i) {
        const auto quiet = [&] {
            const auto before = lane.polls.load();
            std::this_thread::sleep_for(10ms);
            return lane.polls == before;
        };
        REQUIRE(eventually(10s, quiet));
        scheduler.progress(); // undoes what the sleeper has armed
        lane.post();
        REQUIRE(eventually(10s, [&] { return lane.taken == i; }));
    }
}

} // namespace telling_test
