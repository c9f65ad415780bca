// SPDX-License-Identifier: BSD-3-Clause
// Which lanes a turn asks: skip_poll, confinement, blocking lanes, deferred work.
#include "base/clock.h"
#include "fake_lane.h"
#include "in_time.h"
#include "poll/scheduler.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

namespace turns_test {

using namespace plexus::testing;
using plexus::poll::Scheduler;

namespace {

/// Gives how many turns were long: somebody else had our core. All lanes are asked after such a turn.
std::uint64_t turn(Scheduler& scheduler, int times) {
    std::uint64_t interrupted = 0;
    for (int i = 0; i < times; ++i) {
        const auto start = Scheduler::Clock::now();
        scheduler.progress();
        if (Scheduler::Clock::now() - start > 100us) ++interrupted;
    }
    return interrupted;
}

} // namespace

TEST_CASE("skip_poll asks a lane in every k-th turn") {
    FakeLane often;
    FakeLane seldom;
    FakeLane hardly;
    Scheduler scheduler({});
    scheduler.add(often.source(1));
    const auto index = scheduler.add(seldom.source(20));
    scheduler.add(hardly.source(500)); // the next lane that is due is not always the last one
    const auto more = 2 * turn(scheduler, 1'000);
    CHECK(often.polls == 1'000);
    CHECK(seldom.polls >= 50);
    CHECK(seldom.polls <= 50 + more);
    CHECK(scheduler.lanes()[index].polls == seldom.polls);

    scheduler.lanes()[index].fixed_turns = 4; // changed while it runs: from the next poll on
    turn(scheduler, 20);
    const auto before = seldom.polls.load();
    const auto again = 2 * turn(scheduler, 100);
    CHECK(seldom.polls - before >= 25);
    CHECK(seldom.polls - before <= 25 + again);
}

TEST_CASE("a lane that is placed between turns is asked from begin() on, and not before") {
    FakeLane first;
    FakeLane later;
    Scheduler scheduler({});
    scheduler.set_deferred_work([] { return std::chrono::nanoseconds::max(); });
    scheduler.add(first.source(1));
    turn(scheduler, 10);
    const auto index = scheduler.place(later.source(1));
    CHECK(index == 1);
    CHECK(scheduler.lanes().size() == 2);
    turn(scheduler, 10);
    CHECK(later.polls == 0);
    scheduler.begin();
    turn(scheduler, 1); // the leader notices
    turn(scheduler, 10);
    CHECK(later.polls >= 10);
    CHECK(later.polls <= 11); // after a turn that took long, that one asks it as well
    CHECK(first.polls == 31);
}

TEST_CASE("a thread that waits in its sleep is woken for a lane that begins, and by that lane's work") {
    FakeLane first;
    FakeLane later;
    Scheduler scheduler({});
    scheduler.set_deferred_work([] { return std::chrono::nanoseconds::max(); });
    scheduler.add(first.source(1));
    bool done = false;
    std::thread waiter([&] { done = in_time(scheduler, [&] { return later.taken > 0; }); });
    CHECK(eventually(20s, [&] { return first.arms > 0; })); // it sleeps, or is about to
    scheduler.place(later.source(1));
    scheduler.begin();
    CHECK(eventually(20s, [&] { return later.arms > 0; }));
    later.post();
    waiter.join();
    CHECK(done);
}

TEST_CASE("work is found at the lane's turn and counted") {
    FakeLane lane;
    Scheduler scheduler({});
    const auto index = scheduler.add(lane.source(5));
    turn(scheduler, 1);
    lane.post();
    lane.post();
    if (turn(scheduler, 4) == 0) CHECK(lane.taken == 0);
    turn(scheduler, 1);
    CHECK(lane.taken == 2);
    CHECK(scheduler.lanes()[index].hits == 1);
    CHECK(lane.taken == 2);
}

TEST_CASE("of a busy lane and idle ones the busy one is asked in nearly every turn, however cheap they are") {
    CheapLane busy;
    CheapLane first;
    CheapLane second;
    Scheduler scheduler({});
    for (CheapLane* lane : {&busy, &first, &second}) scheduler.add(lane->source());
    const auto polls_in = [&](const CheapLane& lane, int turns) {
        const std::uint64_t before = lane.polls;
        turn(scheduler, turns);
        return lane.polls - before;
    };
    turn(scheduler, 1'000); // all are idle, so all are asked
    CHECK(polls_in(first, 1'000) > 900);
    for (const auto& lane : scheduler.lanes().all())
        if (lane->cost_ticks * plexus::nanoseconds_per_tick() > 25)
            SKIP_TEST("no poll is cheap in this build");
    busy.busy = true;
    turn(scheduler, 100'000);
    // After a long turn lanes are asked often for a while: the least of five stretches without any.
    const auto undisturbed_polls = [&](const CheapLane& lane) {
        std::uint64_t least = UINT64_MAX;
        for (int found = 0, again = 0; found < 5 && again < 2'000; ++again) {
            if (turn(scheduler, 10'000) > 0) continue;
            const std::uint64_t before = lane.polls;
            if (turn(scheduler, 10'000) > 0) continue;
            least = std::min(least, lane.polls - before);
            ++found;
        }
        return least;
    };
    CHECK(undisturbed_polls(first) < 2'000);
    CHECK(undisturbed_polls(second) < 2'000);
    CHECK(polls_in(busy, 100'000) > 80'000);
    first.busy = true; // and found soon
    turn(scheduler, 100'000);
    CHECK(polls_in(first, 100'000) > 80'000);
    CHECK(undisturbed_polls(second) < 2'000);
}

// What a poll costs is measured as long as it is dear, so that the lane is let go at once.
TEST_CASE("a dear lane that was asked in every turn is asked rarely as soon as another one is busy") {
    CheapLane busy;
    FakeLane dear;
    Scheduler scheduler({});
    scheduler.add(busy.source());
    auto& state = scheduler.lanes()[scheduler.add(dear.source())];
    // Nobody has work. The lane is measured whatever it costs in the first of so many polls.
    const auto quiet = [&] { return state.turns == 1 && dear.polls % 1024 >= 40 && dear.polls % 1024 < 200; };
    REQUIRE(eventually(20s, [&] {
        turn(scheduler, 1);
        return dear.polls > 40 && quiet();
    }));
    busy.busy = true;
    const auto before = dear.polls.load();
    CHECK(eventually(20s, [&] {
        turn(scheduler, 1);
        return state.turns > 1;
    }));
    CHECK(dear.polls - before < 500);
}

TEST_CASE("lanes that idle beside a busy one share what one alone would have") {
    // Half of the polls give as many turns or more: some are made wrong by whoever interrupts us.
    const auto typical_turns = [](double share, int idle_lanes) {
        CheapLane busy;
        busy.busy = true;
        std::deque<FakeLane> idle(static_cast<std::size_t>(idle_lanes));
        plexus::poll::LaneTurns turns(share);
        turns.add(busy.source());
        for (FakeLane& each : idle) turns.add(each.source());
        const plexus::poll::Lane& lane = turns.all()[1];
        std::vector<std::uint32_t> seen;
        for (std::uint64_t polls = 0; polls < 200;) {
            turns.ask();
            if (lane.polls == polls) continue;
            polls = lane.polls;
            if (polls > 100) seen.push_back(lane.turns);
        }
        std::sort(seen.begin(), seen.end());
        return seen[seen.size() / 2];
    };
    // Ten times this share is far less than the loop, also where a sanitizer makes turns long: otherwise
    // no lane would begin to wait. Where system calls are slow it is more: there is a highest number of
    // turns.
    double share = 0.003;
    while (share < 0.05 && typical_turns(share, 1) > plexus::poll::AutoSkip::kMost / 8) share *= 2;
    const std::uint32_t alone = typical_turns(share, 1);
    REQUIRE(alone > 1);
    CHECK(typical_turns(share, 10) > 3 * alone);
}

TEST_CASE("a lane that costs others their processor is asked rarely, and often again when they are gone") {
    FakeLane dear;
    plexus::poll::LaneTurns turns(0.01);
    auto& lane = turns.add(dear.source());
    const auto asked_in_each_of = [&](int count) {
        const auto before = dear.polls.load();
        for (int i = 0; i < count; ++i) turns.ask();
        return dear.polls - before == static_cast<std::uint64_t>(count);
    };
    CHECK(eventually(20s, [&] { return asked_in_each_of(100); })); // nobody else has anything to do
    for (int i = 0; i < 200; ++i) turns.crowd().note_yield(true);
    CHECK(asked_in_each_of(100)); // who polls as well does not lose by it
    turns.crowd().note_length(1'000'000);
    CHECK(eventually(20s, [&] {
        turns.ask();
        return lane.turns > 1;
    }));
    for (int i = 0; i < 200; ++i) turns.crowd().note_yield(false);
    CHECK(eventually(20s, [&] { return asked_in_each_of(100); }));
}

TEST_CASE("a confined lane is polled under a guard only, and then in every turn") {
    FakeLane lane;
    Scheduler scheduler({});
    auto& state = scheduler.lanes()[scheduler.add(lane.source(10))];
    state.confined = true;
    lane.post();
    turn(scheduler, 100);
    CHECK(lane.polls == 0);
    ++state.guards;
    turn(scheduler, 100);
    CHECK(lane.polls == 100);
    CHECK(lane.taken == 1);
    ++state.guards; // guards nest
    --state.guards;
    turn(scheduler, 10);
    CHECK(lane.polls == 110);
    --state.guards;
    turn(scheduler, 100);
    CHECK(lane.polls == 110);
    state.confined = false;
    turn(scheduler, 100);
    CHECK(lane.polls > 110);
}

TEST_CASE("a confined lane does not wake or delay a sleeper") {
    FakeLane open;
    FakeLane confined;
    Scheduler scheduler({});
    scheduler.add(open.source());
    auto& state = scheduler.lanes()[scheduler.add(confined.source())];
    state.confined = true;
    confined.post();
    const auto deadline = Scheduler::Clock::now() + 200ms;
    CHECK_FALSE(scheduler.wait_for_true([] { return false; }, deadline));
    CHECK(confined.polls == 0);
    CHECK(confined.arms == 0);
    CHECK(open.arms >= 1);
    CHECK(open.arms <= 5); // it sleeps in one piece; a lane that can't wake it is looked at every millisecond
    ++state.guards;
    CHECK(in_time(scheduler, [&] { return confined.taken == 1; }));
}

TEST_CASE("a blocking lane is polled when its thread has seen something, not in every turn") {
    FakeLane lane;
    Scheduler scheduler({});
    auto source = lane.source();
    source.blocking = true;
    const auto index = scheduler.add(source);
    REQUIRE(scheduler.lanes()[index].watcher != nullptr);
    turn(scheduler, 10); // finds that the lane is quiet
    const auto before = lane.polls.load();
    CHECK(before <= 2);
    turn(scheduler, 1'000);
    CHECK(lane.polls == before);
    for (std::uint64_t i = 1; i <= 50; ++i) {
        lane.post();
        CHECK(eventually(5s, [&] {
            scheduler.progress();
            return lane.taken == i;
        }));
        turn(scheduler, 5);
    }
    CHECK(lane.polls <= before + 50 * 4);
    ++scheduler.lanes()[index].guards; // a guard asks for it in every turn
    const auto guarded = lane.polls.load();
    turn(scheduler, 100);
    CHECK(lane.polls == guarded + 100);
}

TEST_CASE("a blocking lane is polled again while it has work that its descriptor does not show") {
    FakeLane lane;
    Scheduler scheduler({});
    auto source = lane.source();
    source.blocking = true;
    std::uint64_t posted = 0;
    lane.on_arm = [&] {
        if (posted < 10) lane.post_unseen(); // comes after the poll that found nothing
        posted = std::min<std::uint64_t>(posted + 1, 10);
    };
    scheduler.add(source);
    CHECK(eventually(5s, [&] {
        scheduler.progress();
        return lane.taken == 10;
    }));
}

TEST_CASE(
    "a thread does not fall asleep on a blocking lane that has work which its descriptor does not show") {
    FakeLane lane;
    Scheduler scheduler({0us, 0us, 1ms, 0.01});
    auto source = lane.source();
    source.blocking = true;
    std::uint64_t posted = 0;
    lane.on_arm = [&] {
        if (posted < 10) lane.post_unseen();
        posted = std::min<std::uint64_t>(posted + 1, 10);
    };
    scheduler.add(source);
    CHECK(in_time(scheduler, [&] { return lane.taken == 10; }));
}

TEST_CASE("a blocking lane that a guard has polled is armed anew afterwards") {
    FakeLane lane;
    lane.rings_when_armed = true;
    Scheduler scheduler({});
    auto source = lane.source();
    source.blocking = true;
    auto& state = scheduler.lanes()[scheduler.add(source)];
    for (std::uint64_t i = 1; i <= 20; ++i) {
        turn(scheduler, 10); // quiet and armed
        ++state.guards;
        turn(scheduler, 3); // this undoes it
        --state.guards;
        turn(scheduler, 10);
        lane.post();
        REQUIRE(eventually(5s, [&] {
            scheduler.progress();
            return lane.taken == i;
        }));
    }
}

TEST_CASE("a blocking lane that a guard has polled is polled once afterwards, then left alone") {
    constexpr int kRounds = 20;
    FakeLane lane;
    Scheduler scheduler({});
    auto source = lane.source();
    source.blocking = true;
    auto& state = scheduler.lanes()[scheduler.add(source)];
    std::uint64_t afterwards = 0;
    for (int round = 0; round < kRounds; ++round) {
        turn(scheduler, 10); // quiet and watched
        ++state.guards;
        turn(scheduler, 3);
        --state.guards;
        const auto before = lane.polls.load();
        for (int i = 0; i < 10; ++i) {
            turn(scheduler, 1);
            std::this_thread::sleep_for(1ms); // for the lane's thread
        }
        afterwards += lane.polls - before;
    }
    CHECK(afterwards >= kRounds);
    CHECK(afterwards < kRounds * 3 / 2);
}

TEST_CASE("a blocking lane wakes a thread that waits") {
    FakeLane lane;
    Scheduler scheduler({});
    auto source = lane.source();
    source.blocking = true;
    scheduler.add(source);
    std::thread poster([&] {
        std::this_thread::sleep_for(20ms);
        lane.post();
    });
    CHECK(in_time(scheduler, [&] { return lane.taken == 1; }));
    poster.join();
}

TEST_CASE("deferred work runs when it is requested, and again when it is due") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source());
    int runs = 0;
    scheduler.set_deferred_work([&] {
        ++runs;
        return runs == 1 ? std::chrono::nanoseconds(5ms) : std::chrono::nanoseconds::max();
    });
    turn(scheduler, 100);
    CHECK(runs == 0);
    const auto start = Scheduler::Clock::now();
    scheduler.request_deferred_work();
    turn(scheduler, 1);
    CHECK(runs == 1);
    CHECK(in_time(scheduler, [&] { return runs == 2; })); // sleeps until then
    CHECK(Scheduler::Clock::now() - start >= 5ms);
    turn(scheduler, 100);
    CHECK(runs == 2);
}

TEST_CASE("a turn knows its own thread, and does not start another inside itself") {
    FakeLane lane;
    Scheduler scheduler({});
    scheduler.add(lane.source(1));
    bool inside = false;
    std::uint32_t nested = 0;
    lane.on_poll = [&] {
        inside = scheduler.inside_turn();
        nested = scheduler.progress();
        bool elsewhere = true;
        std::thread([&] { elsewhere = scheduler.inside_turn(); }).join();
        if (elsewhere) inside = false;
    };
    lane.post();
    CHECK_FALSE(scheduler.inside_turn());
    CHECK(scheduler.progress() == 1);
    CHECK(inside);
    CHECK(nested == 0);
    CHECK(lane.polls == 1);
    CHECK_FALSE(scheduler.inside_turn());
}

} // namespace turns_test
