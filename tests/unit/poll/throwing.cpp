// SPDX-License-Identifier: BSD-3-Clause
// An exception that comes out of user code below a turn, or out of a condition, leaves a scheduler in
// which others still make progress.
#include "fake_lane.h"
#include "in_time.h"
#include "poll/scheduler.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/log_guard.h"

#include <stdexcept>

namespace throwing_test {

using namespace plexus::testing;
using plexus::poll::Scheduler;
using plexus::poll::SchedulerOptions;

namespace {

using Clock = Scheduler::Clock;
constexpr SchedulerOptions kSleepy{0us, 0us, 1ms, 0.01};

/// Another thread's wait ends: nobody kept the lead.
bool others_wait(Scheduler& scheduler, FakeLane& lane) {
    bool came = false;
    std::thread([&] {
        const std::uint64_t next = lane.taken + 1;
        lane.post();
        came = in_time(scheduler, [&] { return lane.taken >= next; });
    }).join();
    return came;
}

} // namespace

TEST_CASE("deferred work that throws is logged and runs again, and lanes are polled meanwhile") {
    const auto expected = expect_warning("an on_error handler threw");
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    std::atomic<int> runs{0};
    scheduler.set_deferred_work([&]() -> std::chrono::nanoseconds {
        if (++runs <= 2) throw std::runtime_error("an on_error handler threw");
        return std::chrono::nanoseconds::max();
    });
    scheduler.request_deferred_work();
    CHECK_NOTHROW(scheduler.progress());
    CHECK(runs == 1);
    CHECK_FALSE(scheduler.inside_turn());
    CHECK(others_wait(scheduler, lane));
    CHECK(in_time(scheduler, [&] { return runs == 3; }));
    CHECK(expected.count() >= 1);
}

TEST_CASE("of many exceptions the first, second, fourth, eighth are told") {
    const auto expected = expect_warning("thrown each time");
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    scheduler.set_deferred_work(
        [&]() -> std::chrono::nanoseconds { throw std::runtime_error("thrown each time"); });
    for (int i = 0; i < 12; ++i) {
        scheduler.request_deferred_work();
        scheduler.progress();
    }
    CHECK(expected.count() == 4);
}

TEST_CASE("the progress thread survives deferred work that throws") {
    const auto expected = expect_warning("thrown by deferred work");
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    std::atomic<int> runs{0};
    scheduler.set_deferred_work([&]() -> std::chrono::nanoseconds {
        if (++runs <= 2) throw std::runtime_error("thrown by deferred work");
        return std::chrono::nanoseconds::max();
    });
    scheduler.start_progress_thread();
    scheduler.request_deferred_work();
    CHECK(eventually(10s, [&] { return runs == 3; }));
    lane.post();
    CHECK(eventually(10s, [&] { return lane.taken == 1; }));
    CHECK(expected.count() >= 1);
}

TEST_CASE("a lane whose poll throws is polled again, and nobody else is hurt") {
    const auto expected = expect_warning("from a poll");
    FakeLane lane;
    FakeLane other;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source(1));
    scheduler.add(other.source(1));
    int left = 3;
    lane.on_poll = [&] {
        --lane.inside;                       // the fake's own account
        if (left > 0 && left-- > 0) throw 7; // no std::exception
        ++lane.inside;
    };
    const auto expected_too = expect_warning("no std::exception");
    for (int i = 0; i < 10; ++i) CHECK_NOTHROW(scheduler.progress());
    CHECK(left == 0);
    CHECK_FALSE(scheduler.inside_turn());
    other.post();
    scheduler.progress();
    CHECK(other.taken == 1);
    CHECK(others_wait(scheduler, other));
    CHECK(expected.count() + expected_too.count() >= 1);
}

TEST_CASE("a condition that throws ends its own wait only") {
    const bool followed = GENERATE(false, true); // another thread polls while it is asked
    CAPTURE(followed);
    FakeLane lane;
    Scheduler scheduler(kSleepy);
    scheduler.add(lane.source());
    std::atomic<bool> leave{false};
    std::thread leader;
    if (followed) {
        leader = std::thread([&] { scheduler.wait_for_true([&] { return leave.load(); }); });
        REQUIRE(eventually(5s, [&] { return lane.arms > 0; }));
    }
    for (int calls : {1, 2, 66}) { // before it polls or follows, meanwhile, just before it sleeps
        int asked = 0;
        const auto deadline = Clock::now() + 10s * kPatience;
        CHECK_THROWS_AS(scheduler.wait_for_true(
                            [&]() -> bool {
                                if (++asked >= calls) throw std::runtime_error("a condition threw");
                                return false;
                            },
                            deadline),
                        std::runtime_error);
        CHECK(Clock::now() < deadline);
        CHECK_FALSE(scheduler.inside_turn());
    }
    if (followed) {
        leave = true;
        scheduler.wake();
        leader.join();
    }
    CHECK(others_wait(scheduler, lane));
}

} // namespace throwing_test
