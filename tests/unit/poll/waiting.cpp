// SPDX-License-Identifier: BSD-3-Clause
// How threads wait: deadlines, sleep and wake-up, leader and followers, the progress
// thread, a foreign event loop. A forgotten wake-up runs into a deadline here.
#include "fake_lane.h"
#include "in_time.h"
#include "poll/scheduler.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/process.h"

#include <list>
#include <poll.h>
#include <sys/mman.h>

namespace waiting_test {

using namespace plexus::testing;
using plexus::poll::Scheduler;
using plexus::poll::SchedulerOptions;

namespace {

using Clock = Scheduler::Clock;
const auto kLong = 20s * kPatience;

/// Sleeps as soon as it can: what is tested is the sleep.
constexpr SchedulerOptions kSleepy{0us, 0us, 1ms, 0.01};

bool readable(int fd, int milliseconds = 0) {
    pollfd look{fd, POLLIN, 0};
    return ::poll(&look, 1, milliseconds) == 1;
}

/// A scheduler with its progress thread and one lane; no waiting thread is left behind.
struct Running {
    explicit Running(SchedulerOptions options = kSleepy)
      : scheduler(options) {
        scheduler.add(lane.source());
        scheduler.start_progress_thread();
    }
    /// Idle: no poll for a while.
    bool falls_asleep() {
        return eventually(5s, [&] {
            const auto before = lane.polls.load();
            std::this_thread::sleep_for(10ms);
            return lane.polls == before;
        });
    }
    FakeLane lane;
    Scheduler scheduler;
};

} // namespace

TEST_CASE("a wait ends at its deadline, not before and not much after") {
    const auto options = GENERATE(SchedulerOptions{}, kSleepy);
    FakeLane lane;
    Scheduler scheduler(options);
    scheduler.add(lane.source());
    const auto start = Clock::now();
    CHECK_FALSE(scheduler.wait_for_true([] { return false; }, start + 30ms));
    const auto took = Clock::now() - start;
    CHECK(took >= 30ms);
    CHECK(took < 1s * kPatience);
    CHECK(scheduler.wait_for_true([] { return true; }, start)); // holds already: the deadline does not matter
}

TEST_CASE("a busy lane does not keep a wait from its deadline") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source(1));
    lane.on_poll = [&] { lane.post(); };
    lane.post();
    const auto start = Clock::now();
    CHECK_FALSE(scheduler.wait_for_true([] { return false; }, start + 30ms));
    CHECK(Clock::now() - start < 1s * kPatience);
}

TEST_CASE("a lane whose descriptor the kernel does not watch is looked at all the same") {
    const plexus::UniqueFd file(::memfd_create("no descriptor to sleep on", MFD_CLOEXEC)); // EPERM to epoll
    REQUIRE(file.get() >= 0);
    FakeLane lane;
    lane.other_fd = file.get();
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    const auto start = Clock::now();
    std::thread poster([&] {
        std::this_thread::sleep_for(50ms); // the other one is asleep then
        lane.post();
    });
    CHECK(scheduler.wait_for_true([&] { return lane.taken == 1; }, start + kLong));
    CHECK(Clock::now() - start < kLong / 2);
    poster.join();
}

TEST_CASE("a waiting thread sleeps and the lane's descriptor wakes it") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    for (std::uint64_t i = 1; i <= 20; ++i) {
        std::thread poster([&] {
            std::this_thread::sleep_for(5ms);
            lane.post();
        });
        CHECK(in_time(scheduler, [&] { return lane.taken == i; }));
        poster.join();
    }
    CHECK(lane.polls < 20 * 1'000); // 100 ms of polling would be millions
}

TEST_CASE("a lane that cannot wake anybody is looked at nevertheless") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    auto source = lane.source();
    source.sleeps = false;
    scheduler.add(source);
    std::thread poster([&] {
        std::this_thread::sleep_for(10ms);
        lane.post();
    });
    CHECK(in_time(scheduler, [&] { return lane.taken == 1; }));
    CHECK(lane.arms == 0);
    poster.join();
}

TEST_CASE("wake() ends the sleep of a thread whose condition was met outside of a turn") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    for (int round = 0; round < 50; ++round) {
        std::atomic<bool> flag{false};
        std::thread other([&] {
            if (round % 2 == 0) std::this_thread::sleep_for(2ms);
            flag = true;
            scheduler.wake();
        });
        CHECK(in_time(scheduler, [&] { return flag.load(); }));
        other.join();
    }
}

TEST_CASE("a thread that was woken for nothing sleeps again") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    for (int round = 0; round < 3; ++round) {
        std::thread other([&] {
            std::this_thread::sleep_for(5ms);
            scheduler.wake();
        });
        const auto before = lane.polls.load();
        CHECK_FALSE(scheduler.wait_for_true([] { return false; }, Clock::now() + 100ms));
        CHECK(lane.polls - before < 1'000);
        other.join();
    }
}

TEST_CASE("deferred work that is requested just before a thread falls asleep runs") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    for (int looks : {64, 65, 66}) { // before it says that it sleeps, and after
        bool ran = false;
        scheduler.set_deferred_work([&] {
            ran = true;
            return std::chrono::nanoseconds::max();
        });
        int looked = 0;
        CHECK(in_time(scheduler, [&] {
            if (++looked == looks) scheduler.request_deferred_work();
            return ran;
        }));
    }
}

TEST_CASE("deferred work requested by another thread wakes a sleeper") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    std::atomic<bool> ran{false};
    scheduler.set_deferred_work([&] {
        ran = true;
        return std::chrono::nanoseconds::max();
    });
    std::thread other([&] {
        std::this_thread::sleep_for(10ms);
        scheduler.request_deferred_work();
    });
    CHECK(in_time(scheduler, [&] { return ran.load(); }));
    other.join();
}

TEST_CASE("of several waiting threads one polls, and each leaves when its own condition holds") {
    const bool with_progress_thread = GENERATE(false, true);
    const auto options = GENERATE(SchedulerOptions{}, kSleepy);
    constexpr int kThreads = 4;
    constexpr std::uint64_t kRounds = 200;
    FakeLane lane;
    Scheduler scheduler(options);
    scheduler.add(lane.source());
    if (with_progress_thread) scheduler.start_progress_thread();
    std::atomic<int> all_came{0};
    std::atomic<std::uint64_t> done[kThreads]{};
    std::list<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            bool all = true;
            for (std::uint64_t i = 1; all && i <= kRounds; ++i) {
                all = in_time(scheduler, [&] { return lane.taken >= i; });
                done[t] = i;
            }
            all_came += all ? 1 : 0;
        });
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
        lane.post();
        CHECK(eventually(10s, [&] {
            return std::all_of(std::begin(done), std::end(done), [&](auto& d) { return d >= i; });
        }));
    }
    for (auto& thread : threads) thread.join();
    CHECK(all_came == kThreads);
    CHECK_FALSE(lane.crowded);
}

TEST_CASE("the progress thread sleeps while nothing happens, and the lane's descriptor wakes it") {
    Running running;
    REQUIRE(running.falls_asleep());
    for (std::uint64_t i = 1; i <= 200; ++i) {
        running.lane.post();
        REQUIRE(eventually(5s, [&] { return running.lane.taken == i; }));
        if (i % 20 == 0) REQUIRE(running.falls_asleep());
    }
    CHECK_FALSE(running.lane.crowded);
}

TEST_CASE("the progress thread comes back after the program has polled and stopped") {
    Running running;
    for (std::uint64_t i = 1; i <= 30; ++i) {
        for (int turn = 0; turn < 10; ++turn) running.scheduler.progress();
        running.lane.post(); // nobody else will take it now
        REQUIRE(eventually(5s, [&] { return running.lane.taken == i; }));
    }
    CHECK_FALSE(running.lane.crowded);
}

TEST_CASE("the progress thread stays away as long as the program polls now and then") {
    constexpr auto kHandover = 50ms;
    const auto self = std::this_thread::get_id();
    std::atomic<std::thread::id> polled_by{};
    std::atomic<std::uint64_t> others{0};
    FakeLane lane;
    lane.on_poll = [&] {
        polled_by = std::this_thread::get_id();
        if (polled_by.load() != self) ++others;
    };
    Scheduler scheduler({60s, 0us, kHandover, 0.01}); // nobody sleeps
    scheduler.add(lane.source());
    scheduler.start_progress_thread();
    // Once more if this thread had to wait for a processor, which may take longer than the handover.
    CHECK(eventually(20s, [&] {
        if (!scheduler.wait_for_true([&] { return polled_by.load() == self; },
                                     Clock::now() + 20s * kPatience))
            return false;
        const auto before = others.load();
        for (const auto begin = Clock::now(); Clock::now() - begin < 4 * kHandover;) {
            scheduler.progress();
            for (const auto now = Clock::now(); Clock::now() - now < 1ms;) std::this_thread::yield();
        }
        return others.load() == before;
    }));
    lane.post(); // nobody polls any more: the thread comes back
    CHECK(eventually(10s, [&] { return lane.taken == 1; }));
}

TEST_CASE("a wait that takes the lead from the progress thread sees what arrives") {
    Running running;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        if (i % 10 == 0) running.falls_asleep();
        running.lane.post();
        REQUIRE(in_time(running.scheduler, [&] { return running.lane.taken == i; }));
    }
    CHECK_FALSE(running.lane.crowded);
}

TEST_CASE("a foreign event loop sleeps on fd() after arm() and is woken for every event") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    for (std::uint64_t i = 1; i <= 20; ++i) {
        while (!scheduler.arm()) scheduler.progress();
        CHECK_FALSE(readable(scheduler.fd(), i == 1 ? 20 : 0));
        lane.post();
        CHECK(readable(scheduler.fd(), 5'000));
        CHECK(scheduler.progress() == 1);
        CHECK(lane.taken == i);
    }
    lane.post();
    CHECK_FALSE(scheduler.arm()); // there is work: do not sleep
    scheduler.progress();
    while (!scheduler.arm()) scheduler.progress();
    scheduler.wake();
    CHECK(readable(scheduler.fd(), 5'000));
}

TEST_CASE("a foreign event loop beside the progress thread loses nothing") {
    Running running;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        running.lane.post();
        const auto deadline = Clock::now() + kLong;
        while (running.lane.taken < i && Clock::now() < deadline) {
            if (running.scheduler.arm()) readable(running.scheduler.fd(), 100);
            running.scheduler.progress();
        }
        REQUIRE(running.lane.taken == i);
    }
    CHECK_FALSE(running.lane.crowded);
}

TEST_CASE("stop() ends every wait, and no poll follows") {
    Running running;
    std::atomic<int> ended{0};
    std::list<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            if (!running.scheduler.wait_for_true([] { return false; })) ++ended;
        });
    std::this_thread::sleep_for(20ms);
    running.scheduler.stop();
    for (auto& thread : threads) thread.join();
    CHECK(ended == 3);
    const auto polls = running.lane.polls.load();
    running.lane.post();
    CHECK(running.scheduler.progress() == 0);
    std::this_thread::sleep_for(10ms);
    CHECK(running.lane.polls == polls);
}

TEST_CASE("end_waits() ends the waits of other threads, while its own thread and turns go on") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    std::atomic<int> began{0};
    std::atomic<int> ended{0};
    std::list<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            ++began;
            if (!scheduler.wait_for_true([] { return false; })) ++ended;
        });
    REQUIRE(eventually(5s, [&] { return began == 3 && lane.arms > 0; })); // one leads and sleeps
    scheduler.end_waits();
    for (auto& thread : threads) thread.join();
    CHECK(ended == 3);
    std::thread late([&] {
        if (!scheduler.wait_for_true([] { return false; })) ++ended; // nor does a new one begin
    });
    late.join();
    CHECK(ended == 4);
    lane.post();
    CHECK(in_time(scheduler, [&] { return lane.taken == 1; }));
    scheduler.stop();
    CHECK_FALSE(scheduler.wait_for_true([] { return false; }));
}

TEST_CASE("limit_waits() bounds each wait that begins, until there is no limit any more") {
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    const auto never = [] { return false; };
    const auto limit = Scheduler::Clock::now() + 20ms;
    scheduler.limit_waits(limit);
    CHECK_FALSE(scheduler.wait_for_true(never));
    CHECK(Scheduler::Clock::now() >= limit);
    CHECK_FALSE(scheduler.wait_for_true(never, Scheduler::Clock::now() + std::chrono::hours(1)));
    lane.post();
    CHECK(scheduler.wait_for_true([&] { return lane.taken == 1; })); // what is there is still found
    scheduler.limit_waits(Scheduler::Clock::time_point::max());
    std::thread later([&] {
        std::this_thread::sleep_for(20ms);
        lane.post();
    });
    CHECK(scheduler.wait_for_true([&] { return lane.taken == 2; }));
    later.join();
}

TEST_CASE("in a forked child nothing is polled and no wait begins") {
    Running running;
    std::atomic<bool> stop{false};
    std::thread waiting([&] { running.scheduler.wait_for_true([&] { return stop.load(); }); });
    REQUIRE(eventually(5s, [&] { return running.lane.arms > 0; }));
    for (int round = 0; round < 10; ++round) {
        Process child([&](Channel&) {
            const auto polls = running.lane.polls.load();
            if (running.scheduler.progress() != 0) return 1;
            if (running.scheduler.wait_for_true([] { return false; })) return 2;
            if (!running.scheduler.wait_for_true([] { return true; })) return 3;
            if (running.scheduler.arm()) return 4;
            running.scheduler.wake();
            running.scheduler.request_deferred_work();
            return running.lane.polls == polls ? 0 : 5;
        });
        CHECK(child.wait(10s) == 0);
        running.lane.post();
        CHECK(eventually(5s, [&] { return running.lane.taken == static_cast<std::uint64_t>(round) + 1; }));
    }
    stop = true;
    running.scheduler.wake();
    waiting.join();
}

} // namespace waiting_test
