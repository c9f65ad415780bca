// SPDX-License-Identifier: BSD-3-Clause
// The half of the scheduler that waits: leading, following, sleeping, standing by.
#include "base/barrier.h"
#include "poll/scheduler.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace plexus::poll {

using std::chrono::nanoseconds;

namespace {

constexpr unsigned kTurnsPerLook = 64; // idle turns between two looks at the clock
constexpr nanoseconds kWithoutSleep = std::chrono::milliseconds(1); // a lane can't wake us: look so often
constexpr double kTakenNs = 1500;     // a yield that takes longer ran somebody else
constexpr double kCrowdedStep = 0.05; // how much one yield says
constexpr nanoseconds kFollowerNap = std::chrono::milliseconds(50);

} // namespace

Scheduler::Bed::Bed(std::uint32_t events)
  : set(::epoll_create1(EPOLL_CLOEXEC))
  , bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
  , lane_events(events) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = UINT64_MAX;
    ::epoll_ctl(set.get(), EPOLL_CTL_ADD, bell.get(), &event);
}

void Scheduler::Bed::ring() noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written =
        ::write(bell.get(), &one, sizeof one); // full: it is readable anyway
}

void Scheduler::Bed::quiet() noexcept {
    std::uint64_t count;
    [[maybe_unused]] const auto got = ::read(bell.get(), &count, sizeof count);
}

// Gives the core away and sees whether anybody took it.
void Scheduler::yield() {
    const std::uint64_t before = ticks();
    ::sched_yield();
    const bool taken = static_cast<double>(ticks() - before) * nanoseconds_per_tick_ > kTakenNs;
    crowded_ += ((taken ? 1.0 : 0.0) - crowded_) * kCrowdedStep;
}

bool Scheduler::wait(Condition until, Clock::time_point deadline) {
    for (;;) {
        if (until.holds(until.self)) return true;
        if (stopping_.load(std::memory_order_relaxed)) return false;
        if (try_lead(true)) return lead(until, deadline);
        wanting_.fetch_add(1, std::memory_order_relaxed);
        const std::optional<bool> held = follow(until, deadline);
        wanting_.fetch_sub(1, std::memory_order_relaxed);
        if (held) return *held;
    }
}

// True: the condition held. It is not asked again then: it may have taken what it waited for.
bool Scheduler::lead(Condition until, Clock::time_point deadline) {
    Clock::time_point idle_since{};
    unsigned idle = 0;
    bool held = false;
    for (;;) {
        const std::uint32_t handled = turn();
        if ((held = until.holds(until.self))) break;
        if (handled > 0) {
            idle = 0;
            idle_since = {};
            // A busy loop looks at the clock too, now and then, or it would never end.
            if (++busy_turns_ % kTurnsPerLook != 0) continue;
        } else if (++idle % kTurnsPerLook != 0) {
            continue;
        }
        const auto now = Clock::now();
        if (now >= deadline || stopping_.load(std::memory_order_relaxed)) break;
        if (now >= next_chores_) chores_wanted_.store(true, std::memory_order_relaxed);
        if (handled > 0) continue;
        if (idle_since == Clock::time_point{}) idle_since = now;
        if (now - idle_since < options_.spin) continue;
        if (now - idle_since < options_.spin + options_.yield) {
            idle = kTurnsPerLook - 1;
            yield();
            continue;
        }
        nanoseconds longest = nanoseconds::max();
        if (prepare_to_sleep(front_, longest)) {
            slept_ = true;
            {
                const std::lock_guard hold(mutex_);
                leader_will_tell_ = true;
            }
            held = until.holds(until.self);
            if (!held && !stopping_.load(std::memory_order_relaxed)) rest(front_, deadline, longest);
        }
        front_.asleep.store(false, std::memory_order_relaxed);
        if (held) break;
        idle = 0;
        idle_since = {};
    }
    unlead();
    return held;
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
        if (now >= deadline || stopping_.load(std::memory_order_relaxed)) return false;
        if (now - start < options_.spin) continue;
        followers_.fetch_add(1, std::memory_order_relaxed);
        heavy_barrier(); // [follow]
        std::uint64_t seen;
        {
            const std::lock_guard hold(mutex_);
            seen = news_count_;
        }
        const bool held = until.holds(until.self); // under no lock: it may send, or wake others
        if (!held && leading_.load(std::memory_order_relaxed)) {
            std::unique_lock hold(mutex_);
            news_.wait_until(hold, std::min(deadline, now + kFollowerNap),
                             [&] { return news_count_ != seen; });
        }
        followers_.fetch_sub(1, std::memory_order_relaxed);
        if (held) return true;
    }
    return std::nullopt;
}

// Arms every lane. False: there is work, do not sleep.
bool Scheduler::prepare_to_sleep(Bed& bed, nanoseconds& longest) {
    bed.watched.resize(lanes_.size());
    bed.asleep.store(true, std::memory_order_relaxed); // [asleep]
    full_barrier();
    if (chores_wanted_.load(std::memory_order_relaxed)) return false;
    if (next_chores_ != Clock::time_point::max())
        longest = std::max(nanoseconds{0}, next_chores_ - Clock::now());
    std::size_t index = 0;
    for (Lane& lane : lanes_) {
        const std::size_t i = index++;
        const bool polled =
            !lane.confined.load(std::memory_order_relaxed) || lane.guards.load(std::memory_order_relaxed) > 0;
        const bool wanted = polled && lane.source.sleeps && lane.watcher == nullptr;
        const int fd = lane.source.sleeps ? lane.source.ops->wait_fd(lane.module) : -1;
        if (wanted != bed.watched[i] || (wanted && (bed.lane_events & EPOLLONESHOT) != 0)) {
            epoll_event event{};
            event.events = bed.lane_events;
            event.data.u64 = i;
            ::epoll_ctl(bed.set.get(),
                        !wanted          ? EPOLL_CTL_DEL
                        : bed.watched[i] ? EPOLL_CTL_MOD
                                         : EPOLL_CTL_ADD,
                        fd, &event);
            bed.watched[i] = wanted;
        }
        lane.due = next_due_ = 0; // whatever wakes us, every lane is asked at once
        if (!polled) continue;
        if (lane.watcher != nullptr) {
            if (lane.watcher->raised()) return false;
        } else if (!lane.source.sleeps) {
            longest = std::min(longest, kWithoutSleep);
        } else {
            std::uint64_t most = UINT64_MAX;
            if (lane.source.ops->arm(lane.module, &most) != PLEXUS_OK) return false;
            if (most < static_cast<std::uint64_t>(longest.count())) longest = nanoseconds(most);
        }
    }
    return true;
}

void Scheduler::rest(Bed& bed, Clock::time_point deadline, nanoseconds longest) {
    if (deadline != Clock::time_point::max())
        longest = std::min(longest, nanoseconds(deadline - Clock::now()));
    int milliseconds = -1;
    if (longest < std::chrono::hours(1)) // round up: waking early would only be idle turning
        milliseconds = static_cast<int>(std::max<std::int64_t>(0, (longest.count() + 999'999) / 1'000'000));
    epoll_event events[8];
    ::epoll_wait(bed.set.get(), events, 8, milliseconds);
    bed.quiet();
}

void Scheduler::progress_loop() {
    while (!stopping_.load(std::memory_order_relaxed)) {
        if (!try_lead(false)) {
            stand_by();
            continue;
        }
        auto quiet_since = Clock::now();
        bool wanted = false;
        for (unsigned i = 1;; ++i) {
            if (turn() > 0) quiet_since = {};
            if (i % kTurnsPerLook != 0) continue;
            const auto now = Clock::now();
            if (now >= next_chores_) chores_wanted_.store(true, std::memory_order_relaxed);
            if (quiet_since == Clock::time_point{}) quiet_since = now;
            wanted = wanting_.load(std::memory_order_relaxed) > 0;
            if (wanted || now - quiet_since >= options_.spin || stopping_.load(std::memory_order_relaxed))
                break;
        }
        nanoseconds longest = nanoseconds::max();
        const bool sleep = !wanted && prepare_to_sleep(back_, longest);
        if (!sleep) back_.asleep.store(false, std::memory_order_relaxed);
        unlead();
        if (wanted) {
            stand_by();
        } else if (sleep) {
            if (!stopping_.load(std::memory_order_seq_cst)) rest(back_, Clock::time_point::max(), longest);
            back_.asleep.store(false, std::memory_order_relaxed);
        }
    }
}

// Somebody else polls. Come back when nobody has for a while, or when told.
void Scheduler::stand_by() {
    std::unique_lock hold(mutex_);
    for (;;) {
        const std::uint64_t seen = activity_.load(std::memory_order_relaxed);
        if (leader_will_tell_) {
            standby_.wait(hold,
                          [&] { return !leader_will_tell_ || stopping_.load(std::memory_order_relaxed); });
        } else {
            standby_.wait_for(hold, options_.handover);
        }
        if (stopping_.load(std::memory_order_relaxed)) return;
        if (!leading_.load(std::memory_order_relaxed) && activity_.load(std::memory_order_relaxed) == seen)
            return;
    }
}

} // namespace plexus::poll
