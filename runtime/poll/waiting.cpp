// SPDX-License-Identifier: BSD-3-Clause
// The half of the scheduler that waits: turns, leading, following, sleeping, standing by.
#include "base/counted.h"
#include "poll/scheduler.h"

#include <sched.h>
#include <sys/resource.h>

namespace plexus::poll {

using std::chrono::nanoseconds;

namespace {

constexpr unsigned kTurnsPerLook = 64; // idle turns between two looks at the clock
constexpr nanoseconds kFollowerNap = std::chrono::milliseconds(50);

// How often this thread has given its core to another one without sleep, in a yield or by force.
long times_preempted() noexcept {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nivcsw;
}

} // namespace

std::uint32_t Scheduler::turn() {
    in_turn_.store(true, std::memory_order_release); // [turn]
    std::uint32_t handled = 1;                       // of a turn that an exception ends nobody knows
    try {
        handled = lanes_.ask();
    } catch (...) { deferred_work_.note_exception("a poll"); }
    if (deferred_work_.requested()) [[unlikely]] {
        deferred_work_.run();
        lanes_.notice_begun(); // after the request was taken: what was begun before it is seen
    }
    in_turn_.store(false, std::memory_order_relaxed);
    if (handled > 0) followers_.tell();
    return handled;
}

// Gives the core away, and sees now and then whether anybody took it.
void Scheduler::yield() {
    Crowd& crowd = lanes_.crowd();
    const bool looks = crowd.take_look_due();
    const long switches = looks ? times_preempted() : 0;
    const std::uint64_t before = ticks();
    ::sched_yield();
    const std::uint64_t after = ticks();
    if (looks) crowd.note_yield(times_preempted() != switches);
    crowd.note_length(static_cast<double>(after - before) * nanoseconds_per_tick_);
}

bool Scheduler::wait(Condition until, Clock::time_point deadline) {
    deadline = std::min(deadline, latest());
    for (;;) {
        if (until.holds(until.self)) return true;
        if (over()) return false;
        if (try_lead(true)) return lead(until, deadline);
        const Counted wanting(handover_.wanting);
        if (const std::optional<bool> held = follow(until, deadline)) return *held;
    }
}

// True: the condition held. It is not asked again then: it may have taken what it waited for.
bool Scheduler::lead(Condition until, Clock::time_point deadline) {
    const Lead leading(*this);
    Clock::time_point idle_since{};
    unsigned idle = 0;
    for (;;) {
        const std::uint32_t handled = turn();
        if (until.holds(until.self)) return true;
        if (handled > 0) {
            idle = 0;
            idle_since = {};
            // A busy loop looks at the clock too, now and then, or it would never end.
            if (!lanes_.take_clock_due()) continue;
        } else if (++idle % kTurnsPerLook != 0 && !lanes_.crowd().polls()) {
            continue;
        }
        const auto now = Clock::now();
        if (now >= deadline || over()) return false;
        deferred_work_.look(now);
        if (handled > 0) continue;
        lanes_.glance();
        if (idle_since == Clock::time_point{}) idle_since = now;
        if (now - idle_since < options_.spin && !lanes_.crowd().polls()) continue;
        if (now - idle_since < options_.spin + options_.yield) {
            idle = kTurnsPerLook - 1;
            yield();
            continue;
        }
        if (rest(until, deadline)) return true;
        idle = 0;
        idle_since = {};
    }
}

// The leader sleeps, if there is nothing to do. True: the condition held before that.
bool Scheduler::rest(Condition until, Clock::time_point deadline) {
    struct Awake { // also if the condition throws
        Sleeper& sleeper;
        ~Awake() { sleeper.withdraw(); }
    } const awake{front_};
    nanoseconds longest = nanoseconds::max();
    if (!prepare_to_sleep(front_, longest)) return false;
    handover_.slept = true;
    {
        const std::lock_guard hold(handover_.mutex);
        handover_.leader_will_tell = true;
    }
    if (until.holds(until.self)) return true;
    if (over()) return false;
    if (deadline != Clock::time_point::max())
        longest = std::min(longest, nanoseconds(deadline - Clock::now()));
    front_.sleep(longest);
    lanes_.forget_time();
    return false;
}

// Whether the condition held when the wait was over; nullopt: nobody leads any more.
std::optional<bool> Scheduler::follow(Condition until, Clock::time_point deadline) {
    const auto start = Clock::now();
    while (leading_.load(std::memory_order_relaxed)) {
        for (unsigned i = 0; i < kTurnsPerLook; ++i) {
            if (until.holds(until.self)) return true;
            relax();
        }
        const auto now = Clock::now();
        if (now >= deadline || over()) return false;
        if (now - start < options_.spin) continue;
        bool held = false;
        followers_.sleep(std::min(deadline, now + kFollowerNap), [&] {
            held = until.holds(until.self); // under no lock: it may send, or wake others
            return !held && leading_.load(std::memory_order_relaxed);
        });
        if (held) return true;
    }
    return std::nullopt;
}

// Arms every lane. False: there is work, do not sleep.
bool Scheduler::prepare_to_sleep(Sleeper& sleeper, nanoseconds& longest) {
    sleeper.announce();
    if (deferred_work_.requested()) return false;
    longest = deferred_work_.time_left();
    lanes_.ask_all(); // whatever wakes us, every lane is asked at once
    return sleeper.arm(lanes_.asked(), longest);
}

void Scheduler::progress_loop() {
    while (!over()) {
        if (!try_lead(false)) {
            stand_by();
            continue;
        }
        auto quiet_since = Clock::now();
        bool wanted = false;
        bool idle = true; // an event loop that sleeps on fd() has nothing to look at
        for (unsigned i = 1;; ++i) {
            idle = idle && !deferred_work_.requested();
            const std::uint32_t handled = turn();
            if (handled > 0) {
                quiet_since = {};
                idle = false;
            }
            if (i % kTurnsPerLook != 0 && !lanes_.take_clock_due()) continue;
            const auto now = Clock::now();
            deferred_work_.look(now);
            if (handled == 0) lanes_.glance();
            if (quiet_since == Clock::time_point{}) quiet_since = now;
            wanted = handover_.wanting.load(std::memory_order_relaxed) > 0;
            if (wanted || now - quiet_since >= options_.spin || over()) break;
        }
        nanoseconds longest = nanoseconds::max();
        const bool sleep = !wanted && prepare_to_sleep(back_, longest);
        if (!sleep) back_.withdraw();
        unlead(sleep && idle);
        if (wanted) {
            stand_by();
        } else if (sleep) {
            if (!over()) back_.sleep(longest);
            back_.withdraw();
        }
    }
}

// Somebody else polls. Come back when nobody has for a while, or when told.
void Scheduler::stand_by() {
    std::unique_lock hold(handover_.mutex);
    for (;;) {
        const std::uint64_t seen = handover_.activity.load(std::memory_order_relaxed);
        if (handover_.leader_will_tell) {
            handover_.standby.wait(hold, [&] { return !handover_.leader_will_tell || over(); });
        } else {
            handover_.standby.wait_for(hold, options_.handover);
        }
        if (over()) return;
        if (!leading_.load(std::memory_order_relaxed) &&
            handover_.activity.load(std::memory_order_relaxed) == seen)
            return;
    }
}

} // namespace plexus::poll
