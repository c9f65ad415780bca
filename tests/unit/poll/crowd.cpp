// SPDX-License-Identifier: BSD-3-Clause
// What yields tell of those who want the same core, and that two who wait for each other on one hand it over.
#include "fake_lane.h"
#include "in_time.h"
#include "poll/scheduler.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <algorithm>
#include <sched.h>
#include <thread>

namespace crowd_test {

using namespace plexus::testing;
using plexus::poll::Crowd;
using plexus::poll::Scheduler;
using plexus::poll::SchedulerOptions;
using Clock = Scheduler::Clock;

namespace {

void yield(Crowd& crowd, int times, bool ran_another) {
    for (int i = 0; i < times; ++i) crowd.note_yield(ran_another);
}

/// The calling thread runs on one core only, and before all that computes there.
bool stay_on(std::size_t core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    const sched_param first{.sched_priority = 1};
    return ::sched_setaffinity(0, sizeof one, &one) == 0 && ::sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

std::size_t first_core() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
    std::size_t core = 0;
    while (!CPU_ISSET(core, &allowed)) ++core;
    return core;
}

} // namespace

TEST_CASE("a yield that comes back at once tells of nobody, and one that ran another does not either") {
    Crowd crowd;
    yield(crowd, 1'000, false);
    yield(crowd, 1, true);
    CHECK_FALSE(crowd.computes());
    CHECK_FALSE(crowd.polls());
}

TEST_CASE("yields that run others for a short time tell of others that poll, until they have gone") {
    Crowd crowd;
    yield(crowd, 10, true);
    CHECK_FALSE(crowd.computes());
    CHECK(crowd.polls());
    yield(crowd, 5, false); // one that has a message does not yield
    CHECK(crowd.polls());
    yield(crowd, 100, false);
    CHECK_FALSE(crowd.computes());
    CHECK_FALSE(crowd.polls());
}

TEST_CASE("who keeps the core for a slice of time computes: nobody yields to that one while it spins") {
    Crowd crowd;
    yield(crowd, 100, true);
    crowd.note_length(300'000);
    CHECK(crowd.polls());
    CHECK_FALSE(crowd.computes());
    crowd.note_length(700'000);
    CHECK(crowd.computes());
    CHECK_FALSE(crowd.polls());
    yield(crowd, 2, true);
    CHECK_FALSE(crowd.polls());
    yield(crowd, 10, true);
    CHECK(crowd.polls());
    CHECK_FALSE(crowd.computes());
}

TEST_CASE("a few yields of many are looked at") {
    Crowd crowd;
    const auto looks = [&] {
        int found = 0;
        for (int i = 0; i < 800; ++i) found += crowd.take_look_due() ? 1 : 0;
        return found;
    };
    CHECK(looks() == 100);
}

// Each spins before it yields, and both do in each turn until they know of each other. Then a turn takes
// some microseconds, less than one spin. Where polls are dear, 64 of them would take longer than a spin, and
// one thread would take the other one for one that computes.
TEST_CASE("two that wait for each other on one core do not spin while the other one has the message") {
    if (kSanitized) SKIP_TEST("a turn of this build takes as long as a spin");
    const std::chrono::nanoseconds poll = GENERATE(0us, 4us);
    constexpr SchedulerOptions kSpins{100us, 5ms, 1ms, 0.01};
    constexpr std::uint64_t kWindow = 50;
    const std::size_t core = first_core();
    FakeLane near;
    FakeLane far;
    Scheduler here(kSpins);
    Scheduler there(kSpins);
    for (FakeLane* lane : {&near, &far})
        lane->on_poll = [poll] {
            for (const auto end = Clock::now() + poll; Clock::now() < end;) {}
        };
    here.add(near.source(1));
    there.add(far.source(1));
    std::atomic<bool> over{false};
    std::atomic<int> stay{0};
    std::thread other([&] {
        stay += stay_on(core) ? 1 : 0;
        for (std::uint64_t i = 1; !over; ++i) {
            if (!in_time(there, [&] { return far.taken >= i || over; })) break;
            near.post();
        }
    });
    auto best = Clock::duration::max();
    std::thread measured([&] {
        stay += stay_on(core) ? 1 : 0;
        std::uint64_t i = 0;
        const auto end = Clock::now() + 5s;
        while (best > kSpins.spin && Clock::now() < end) {
            const auto start = Clock::now();
            for (std::uint64_t turn = 0; turn < kWindow; ++turn) {
                far.post();
                ++i;
                if (!in_time(here, [&] { return near.taken >= i; })) return;
            }
            best = std::min<Clock::duration>(best, (Clock::now() - start) / kWindow);
        }
    });
    measured.join();
    over = true;
    far.post();
    other.join();
    if (stay != 2) SKIP_TEST("threads may not have a real-time priority here: others compute on the core");
    INFO(std::chrono::nanoseconds(best).count() << " ns, of which a poll takes " << poll.count());
    CHECK(best < kSpins.spin);
}

} // namespace crowd_test
