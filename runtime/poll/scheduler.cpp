// SPDX-License-Identifier: BSD-3-Clause
#include "poll/scheduler.h"

#include "base/counted.h"
#include "base/pause.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>

namespace plexus::poll {

using std::chrono::nanoseconds;

namespace {

constexpr unsigned kTurnsPerLook = 64; // between two looks at the clock of a thread that does not lead a wait
constexpr nanoseconds kFollowerNap = std::chrono::milliseconds(50);

// How often this thread has given its core to another one without sleep, in a yield or by force.
long times_preempted() noexcept {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nivcsw;
}

} // namespace

Scheduler::Scheduler(SchedulerOptions options)
  : options_(options)
  , nanoseconds_per_tick_(nanoseconds_per_tick())
  , lanes_(options.idle_share)
  , front_(EPOLLIN)
  , back_(EPOLLIN | EPOLLONESHOT)
  , foreign_(EPOLLIN, true) {}

Scheduler::~Scheduler() { stop(); }

std::size_t Scheduler::add(LaneSource source) {
    const std::size_t at = place(std::move(source));
    lanes_.begin();
    return at;
}

std::size_t Scheduler::place(LaneSource source) {
    std::unique_ptr<Watcher> watcher; // first: its thread may be refused
    if (source.blocking && source.sleeps)
        watcher = std::make_unique<Watcher>(source.ops->wait_fd(source.module), [this] { wake(); });
    lanes_.place(std::move(source)).watcher = std::move(watcher);
    return lanes_.all().size() - 1;
}

void Scheduler::begin() noexcept {
    lanes_.begin();
    deferred_work_.request(); // the leader notices the lanes then
    wake();                   // a sleeper's set of descriptors is another one now
}

void Scheduler::start_progress_thread() {
    thread_ = std::thread([this] { progress_loop(); });
}

void Scheduler::end_waits() noexcept {
    end_.closer.store(::pthread_self(), std::memory_order_relaxed);
    Phase running = Phase::running;
    if (end_.phase.compare_exchange_strong(running, Phase::ending, std::memory_order_seq_cst))
        tell_everybody();
}

void Scheduler::stop() {
    if (end_.phase.exchange(Phase::stopped, std::memory_order_seq_cst) == Phase::stopped) return;
    tell_everybody();
    if (thread_.joinable()) thread_.join();
    // Whoever still waits leaves at its next look; then the lead stays here for good.
    unsigned round = 0;
    while (lead_.held.exchange(true, std::memory_order_acquire)) spin_pause(round);
    for (const auto& lane : lanes_.all().all()) lane->watcher.reset();
}

// end_ has changed.
void Scheduler::tell_everybody() noexcept {
    {
        Lock hold(handover_.mutex);
        handover_.leader_will_tell = false;
    }
    handover_.standby.notify_all();
    followers_.tell_all();
    for (Sleeper* sleeper : {&front_, &back_, &foreign_}) sleeper->wake();
}

bool Scheduler::over() const noexcept {
    const Phase phase = end_.phase.load(std::memory_order_acquire);
    if (phase == Phase::running) [[likely]]
        return birth_.left();
    return phase == Phase::stopped ||
           !::pthread_equal(end_.closer.load(std::memory_order_relaxed), ::pthread_self());
}

bool Scheduler::try_lead(bool foreground) noexcept {
    if (lead_.held.load(std::memory_order_relaxed) || birth_.left() ||
        lead_.held.exchange(true, std::memory_order_acquire))
        return false;
    lead_.leader.store(::pthread_self(), std::memory_order_relaxed);
    if (foreground) {
        bump(handover_.activity);
        // The sleeping progress thread has armed the lanes; our first poll undoes that. It has to
        // know that it must come back later: once for each time it fell asleep.
        if (back_.announced()) {
            back_.withdraw();
            back_.wake();
        }
    }
    return true;
}

// [foreign] arm() announces the sleep, runs heavy_barrier() and looks whether somebody leads. A leader gives
// the lead back, runs light_barrier() and looks at the announcement. One sees the other.
void Scheduler::unlead(bool rests) noexcept {
    const bool slept = std::exchange(handover_.slept, false);
    lead_.held.store(false, std::memory_order_release); // [lead]
    if (slept) {
        {
            Lock hold(handover_.mutex);
            handover_.leader_will_tell = false;
        }
        handover_.standby.notify_one();
    }
    followers_.tell(); // runs light_barrier()
    if (foreign_.announced() && !(rests && foreign_.armed())) {
        foreign_.withdraw();
        foreign_.wake(); // its lanes were armed, we have polled: it must arm anew
    }
}

void Scheduler::request_deferred_work() noexcept {
    deferred_work_.request();
    if (!inside_turn()) wake();
}

std::uint32_t Scheduler::progress() {
    if (inside_turn() || !try_lead(true)) return 0;
    const Lead leading(*this);
    if (deferred_work_.timed()) deferred_work_.look(Clock::now());
    const std::uint32_t handled = turn();
    if (handled == 0) lanes_.count_idle_turn();
    return handled;
}

bool Scheduler::arm() {
    if (birth_.left()) return false;
    foreign_.clear(); // whatever wakes us from here on is seen
    foreign_.announce();
    if (woken_.exchange(false, std::memory_order_relaxed)) { // pairs with wake() like [asleep]
        foreign_.withdraw();
        return false;
    }
    if (!try_lead(true)) {
        heavy_barrier();                                             // [foreign]
        if (lead_.held.load(std::memory_order_relaxed)) return true; // that thread wakes us when it leaves
        foreign_.withdraw();
        return false;
    }
    nanoseconds longest = nanoseconds::max();
    const bool sleep = prepare_to_sleep(foreign_, longest);
    foreign_.set_timer(sleep ? longest : nanoseconds::max());
    if (!sleep) foreign_.withdraw();
    lead_.held.store(false, std::memory_order_release); // [lead]; not unlead(): that would wake us
    followers_.tell();
    return sleep;
}

void Scheduler::wake() noexcept {
    if (birth_.left()) return;
    woken_.store(true, std::memory_order_relaxed);
    full_barrier(); // pairs with [asleep]
    for (Sleeper* sleeper : {&front_, &back_, &foreign_})
        if (sleeper->announced()) sleeper->wake();
    followers_.tell();
}

// ---- turns, leading, following, sleeping, standing by ------------------------------------------

std::uint32_t Scheduler::turn() {
    lead_.in_turn.store(true, std::memory_order_release); // [turn]
    std::uint32_t handled = 1;                            // of a turn that an exception ends nobody knows
    try {
        handled = lanes_.ask();
    } catch (...) { deferred_work_.note_exception("a poll"); }
    if (deferred_work_.requested()) [[unlikely]] {
        deferred_work_.run();
        lanes_.notice_begun(); // after the request was taken: what was begun before it is seen
    }
    lead_.in_turn.store(false, std::memory_order_relaxed);
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
    IdleLooks looks(options_.spin, idle_turns_);
    for (;;) {
        const std::uint32_t handled = turn();
        if (until.holds(until.self)) return true;
        if (handled > 0) {
            looks.restart();
            idle_since = {};
            // A busy loop looks at the clock too, now and then, or it would never end.
            if (!lanes_.take_clock_due()) continue;
        } else if (!looks.count_turn() && !lanes_.crowd().polls()) {
            continue;
        }
        const auto now = Clock::now();
        if (now >= deadline || over()) return false;
        deferred_work_.look(now);
        if (handled > 0) continue;
        looks.note(now);
        idle_turns_ = looks.turns();
        lanes_.glance();
        if (idle_since == Clock::time_point{}) idle_since = now;
        if (now - idle_since < options_.spin && !lanes_.crowd().polls()) continue;
        if (now - idle_since < options_.spin + options_.yield) {
            yield();
            looks.look_next(Clock::now());
            continue;
        }
        if (rest(until, deadline)) return true;
        looks.restart();
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
        Lock hold(handover_.mutex);
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
    while (lead_.held.load(std::memory_order_relaxed)) {
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
            return !held && lead_.held.load(std::memory_order_relaxed);
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
    Lock hold(handover_.mutex);
    for (;;) {
        const std::uint64_t seen = handover_.activity.load(std::memory_order_relaxed);
        if (handover_.leader_will_tell) {
            while (handover_.leader_will_tell && !over()) handover_.standby.wait(handover_.mutex);
        } else {
            handover_.standby.wait_until(handover_.mutex, Clock::now() + options_.handover);
        }
        if (over()) return;
        if (!lead_.held.load(std::memory_order_relaxed) &&
            handover_.activity.load(std::memory_order_relaxed) == seen)
            return;
    }
}

} // namespace plexus::poll
