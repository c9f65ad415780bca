// SPDX-License-Identifier: BSD-3-Clause
#include "poll/scheduler.h"

#include <sys/epoll.h>

namespace plexus::poll {

using std::chrono::nanoseconds;

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
    while (leading_.exchange(true, std::memory_order_acquire)) spin_pause(round);
    for (const auto& lane : lanes_.all().all()) lane->watcher.reset();
}

// end_ has changed.
void Scheduler::tell_everybody() noexcept {
    {
        const std::lock_guard hold(handover_.mutex);
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
    if (leading_.load(std::memory_order_relaxed) || birth_.left() ||
        leading_.exchange(true, std::memory_order_acquire))
        return false;
    leader_.store(::pthread_self(), std::memory_order_relaxed);
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
    leading_.store(false, std::memory_order_release); // [lead]
    if (slept) {
        {
            const std::lock_guard hold(handover_.mutex);
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
        heavy_barrier();                                           // [foreign]
        if (leading_.load(std::memory_order_relaxed)) return true; // that thread wakes us when it leaves
        foreign_.withdraw();
        return false;
    }
    nanoseconds longest = nanoseconds::max();
    const bool sleep = prepare_to_sleep(foreign_, longest);
    foreign_.set_timer(sleep ? longest : nanoseconds::max());
    if (!sleep) foreign_.withdraw();
    leading_.store(false, std::memory_order_release); // [lead]; not unlead(): that would wake us
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

} // namespace plexus::poll
