// SPDX-License-Identifier: BSD-3-Clause
// Handlers that take long do not starve what is counted in turns: other lanes, deadlines, deferred work.
// Counted in events of the slow lane, not in time.
#include "fake_lane.h"
#include "poll/lane_turns.h"
#include "poll/scheduler.h"
#include "support/catch.h"
#include "support/eventually.h"

namespace slow_turns_test {

using namespace plexus::testing;
using plexus::poll::Scheduler;

namespace {

using Clock = Scheduler::Clock;
/// A busy scheduler looks at the clock at least once in so many turns that handled something.
constexpr std::uint64_t kMostTurns = 12;

void slow_event() { std::this_thread::sleep_for(3ms); }

} // namespace

TEST_CASE("a lane that is rarely asked is asked soon once handlers of another lane take long") {
    const bool calls_system = GENERATE(false, true); // the busy lane makes system calls
    CAPTURE(calls_system);
    CheapLane cheap;
    FakeLane dear;
    FakeLane idle;
    Scheduler scheduler({});
    std::uint64_t events = 0;
    bool slow = false;
    const auto event = [&] {
        ++events;
        if (slow) slow_event();
        if (calls_system) dear.post();
    };
    cheap.on_event = dear.on_poll = event;
    cheap.busy = true;
    dear.post();
    if (calls_system) {
        scheduler.add(dear.source());
    } else {
        scheduler.add(cheap.source());
    }
    auto& idler = scheduler.lanes()[scheduler.add(idle.source())];
    const auto learned = [&] { return events > 50'000 && idler.turns > kMostTurns * 3 && idle.polls > 50; };
    for (std::uint64_t time = 1; time <= 3; ++time) {
        slow = false;
        REQUIRE(scheduler.wait_for_true(learned, Clock::now() + 20s * kPatience));
        slow = true;
        const std::uint64_t before = events;
        idle.post();
        REQUIRE(scheduler.wait_for_true([&] { return idle.taken == time; }, Clock::now() + 20s * kPatience));
        CHECK(events - before <= kMostTurns);
    }
    // And from then on in every turn.
    for (int round = 0; round < 5; ++round) {
        const std::uint64_t seen = events;
        const std::uint64_t taken = idle.taken;
        idle.post();
        REQUIRE(scheduler.wait_for_true([&] { return idle.taken > taken; }, Clock::now() + 20s * kPatience));
        CHECK(events - seen <= 2);
    }
}

TEST_CASE("a lane that is rarely asked is asked soon in a program that makes progress rarely") {
    CheapLane cheap;
    FakeLane idle;
    Scheduler scheduler({});
    scheduler.add(cheap.source());
    auto& idler = scheduler.lanes()[scheduler.add(idle.source())];
    cheap.busy = true;
    const auto learned = [&] { return cheap.polls > 50'000 && idler.turns > kMostTurns * 3; };
    REQUIRE(scheduler.wait_for_true(learned, Clock::now() + 20s * kPatience));
    cheap.busy = GENERATE(true, false); // afterwards
    idle.post();
    std::uint64_t calls = 0;
    while (idle.taken == 0 && calls < 100) {
        std::this_thread::sleep_for(2ms);
        scheduler.progress();
        ++calls;
    }
    CHECK(calls <= kMostTurns);
}

TEST_CASE("a wait keeps its deadline while handlers take long") {
    CheapLane lane;
    lane.busy = true;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    REQUIRE(scheduler.wait_for_true([&] { return lane.polls > 50'000; }, Clock::now() + 20s * kPatience));
    lane.on_event = slow_event;
    const std::uint64_t before = lane.polls;
    CHECK_FALSE(scheduler.wait_for_true([] { return false; }, Clock::now() + 1ms));
    CHECK(lane.polls - before <= kMostTurns);
    CHECK_FALSE(scheduler.wait_for_true([] { return false; }, Clock::now() + 1ms));
    CHECK(lane.polls - before <= kMostTurns + 2); // it knows by now
}

TEST_CASE("deferred work runs at its time while handlers take long, also on the progress thread") {
    const bool progress_thread = GENERATE(false, true);
    CAPTURE(progress_thread);
    CheapLane lane;
    lane.busy = true;
    std::atomic<std::uint64_t> events{0};
    std::atomic<bool> slow{false};
    lane.on_event = [&] {
        ++events;
        if (slow) slow_event();
    };
    Scheduler scheduler({});
    scheduler.add(lane.source());
    std::atomic<std::uint64_t> first{0}; ///< events, when the deferred work ran first
    std::atomic<std::uint64_t> second{0};
    std::atomic<int> runs{0};
    scheduler.set_deferred_work([&] {
        (runs == 0 ? first : second) = events.load();
        return ++runs == 1 ? std::chrono::nanoseconds(1ms) : std::chrono::nanoseconds::max();
    });
    if (progress_thread) scheduler.start_progress_thread();
    const auto pass = [&](auto done) {
        return progress_thread ? eventually(20s, done)
                               : scheduler.wait_for_true(done, Clock::now() + 20s * kPatience);
    };
    REQUIRE(pass([&] { return events > 50'000; }));
    slow = true;
    scheduler.request_deferred_work();
    REQUIRE(pass([&] { return runs == 2; }));
    CHECK(second - first <= kMostTurns);
}

TEST_CASE("one long poll of a lane whose polls are measured calls for a look at the clock after that turn") {
    CheapLane lane;
    lane.busy = true;
    bool slow = false;
    lane.on_event = [&] {
        if (slow) slow_event();
    };
    plexus::poll::LaneTurns turns(0.01);
    auto source = lane.source();
    source.skip_poll = 1;
    turns.add(source);
    for (int round = 0; round < 10; ++round) {
        slow = false;
        for (int i = 0; i < 10; ++i) turns.ask(); // by now only every eighth turn is looked at
        turns.take_clock_due();
        slow = true;
        turns.ask();
        CHECK(turns.take_clock_due());
    }
}

TEST_CASE("a loop that is busy with short turns looks at the clock now and then") {
    CheapLane lane;
    lane.busy = true;
    plexus::poll::LaneTurns turns(0.01);
    turns.add(lane.source());
    // A turn that somebody interrupts is a long one, and calls for a look by itself: a stretch without any.
    bool looked = false;
    const auto undisturbed = [&] {
        const auto start = Clock::now();
        for (int i = 0; i < 16; ++i) turns.ask();
        turns.take_clock_due();
        const auto begin = Clock::now();
        while (Clock::now() - begin < 300us) turns.ask();
        looked = turns.take_clock_due();
        return Clock::now() - start < 900us; // no glance was a long turn after the one before
    };
    REQUIRE(eventually(20s, undisturbed));
    CHECK(looked);
}

TEST_CASE("a lane is given less to do in a turn while events take long, and more when they do not") {
    CheapLane lane;
    lane.busy = true;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    const auto turns = [&](std::uint64_t count) {
        const std::uint64_t goal = lane.polls + count;
        REQUIRE(scheduler.wait_for_true([&] { return lane.polls >= goal; }, Clock::now() + 20s * kPatience));
    };
    turns(1'000);
    CHECK(lane.budget == Scheduler::kBudget);
    lane.on_event = slow_event;
    turns(kMostTurns + 1);
    CHECK(lane.budget < Scheduler::kBudget / 4);
    CHECK(lane.budget >= 4); // a module shares it among links
    lane.on_event = nullptr;
    turns(200'000); // a machine that is busy with something else may interrupt a few of them
    turns(100);
    CHECK(lane.budget == Scheduler::kBudget);
}

} // namespace slow_turns_test
