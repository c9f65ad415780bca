// SPDX-License-Identifier: BSD-3-Clause
// The poll loop of one context: who polls, and how a thread waits. Which lanes are asked in a turn is
// decided by LaneTurns. Knows nothing of messages or peers.
//
// Who polls: one thread at a time, the leader. A thread that waits leads if nobody does;
// others follow: they watch their own condition, then sleep until the leader has news. When
// nobody waits the context's own progress thread leads. It never holds the lead while it
// sleeps, so a thread that comes to wait takes over without a switch.
//
// In a process that was forked from the scheduler's own nothing is polled and no wait begins. It must not
// be destroyed there: its threads do not exist.
#pragma once

#include "base/condition_variable.h"
#include "base/fork.h"
#include "base/mutex.h"
#include "poll/deferred_work.h"
#include "poll/followers.h"
#include "poll/idle_looks.h"
#include "poll/lane_turns.h"
#include "poll/sleeper.h"

#include <chrono>
#include <functional>
#include <optional>
#include <pthread.h>
#include <thread>

namespace plexus::poll {

struct SchedulerOptions {
    std::chrono::nanoseconds spin{50'000};
    std::chrono::nanoseconds yield{200'000};
    std::chrono::nanoseconds handover{1'000'000};
    double idle_share = 0.01;
};

/// What a waiting thread asks for: a function and its argument, no allocation.
struct Condition {
    bool (*holds)(void*);
    void* self;
};
template <class F>
Condition condition(F& f) noexcept {
    return {[](void* self) { return static_cast<bool>((*static_cast<F*>(self))()); }, &f};
}

class Scheduler {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint32_t kBudget = TurnClock::kBudget; ///< events a lane may handle in one turn

    explicit Scheduler(SchedulerOptions options);
    ~Scheduler();

    /// Before anybody polls. Gives the lane's index; at most as many as Lanes takes.
    std::size_t add(LaneSource lane);
    /// The same while others poll: the lane is polled after begin() only. @thread one
    std::size_t place(LaneSource lane);
    /// From now on all lanes that were placed are polled: what their polls lead to is there. @thread one,
    /// that of place()
    void begin() noexcept;
    void start_progress_thread();
    /// Every wait ends, except those of the calling thread: wait() gives false. Turns go on. @thread setup
    void end_waits() noexcept;
    /// Waits that begin from now on end at this time at the latest, those of the calling thread, too: wait()
    /// gives false. max(): no such limit. @thread setup
    void limit_waits(Clock::time_point latest) noexcept {
        end_.latest.store(latest.time_since_epoch().count(), std::memory_order_relaxed);
    }
    /// No poll runs any more when it returns, and none will start. @thread setup
    void stop();

    /// Called by the leader in a turn after request_deferred_work(): the transport's unfinished work.
    /// Gives how long until it wants to be called again without request; max(): never. What it throws is
    /// logged, and it is called again soon.
    void set_deferred_work(std::function<std::chrono::nanoseconds()> work) {
        deferred_work_.set(std::move(work));
    }
    void request_deferred_work() noexcept;

    /// One turn if nobody leads. Never blocks. @thread any
    std::uint32_t progress();

    /// Makes progress until the condition holds (true), or until the deadline or the limit of waits has
    /// passed, end_waits() or stop() was called (false). What the condition throws ends the wait.
    /// @thread any, but not from inside a turn
    bool wait(Condition until, Clock::time_point deadline = Clock::time_point::max());
    template <class F>
    bool wait_for_true(F f, Clock::time_point deadline = Clock::time_point::max()) {
        return wait(condition(f), deadline);
    }

    /// Something that a waiting thread may wait for has changed outside of a turn. @thread any
    void wake() noexcept;
    /// True on a thread that is inside a turn of this scheduler.
    bool inside_turn() const noexcept {
        // Acquire pairs with [turn]: a thread that sees the turn of another sees that one's name in leader
        // as well, and never its own from an earlier lead.
        return lead_.in_turn.load(std::memory_order_acquire) &&
               ::pthread_equal(lead_.leader.load(std::memory_order_relaxed), ::pthread_self());
    }

    /// For a foreign event loop: readable after arm() as soon as progress() has something to do, a timer
    /// included. @thread any
    int fd() const noexcept { return foreign_.fd(); }
    /// False: do not sleep, call progress(). Also false once after each wake(). @thread one
    bool arm();

    /// Lanes are only added, so references stay good.
    const Lanes& lanes() const noexcept { return lanes_.all(); }

  private:
    enum class Phase : std::uint8_t { running, ending, stopped };
    /// When waits are over. The sleepers are woken after each change.
    struct End {
        std::atomic<Phase> phase{Phase::running};
        std::atomic<pthread_t> closer{}; ///< may wait while `ending`; stored before
        std::atomic<Clock::rep> latest{
            Clock::time_point::max().time_since_epoch().count()}; ///< limit_waits()
    };
    /// Who polls.
    struct Leadership {
        std::atomic<pthread_t> leader{};
        std::atomic<bool> in_turn{false}; ///< [turn] set with release after `leader` was
        /// [lead] The exchange in try_lead() pairs with the store in unlead(): a new leader sees all that the
        /// last one did.
        std::atomic<bool> held{false};
    };
    /// Between the progress thread and threads that wait.
    struct Handover {
        std::atomic<std::uint64_t> activity{0}; ///< foreground leads so far; a heartbeat, no message
        std::atomic<std::uint32_t> wanting{0};  ///< threads that would lead; a hint to the progress thread
        RankedMutex<51> mutex;                  ///< a leaf
        ConditionVariable standby;
        /// It has slept, so leaving is no fast path any more.
        bool leader_will_tell PLEXUS_GUARDED_BY(mutex) = false;
        bool slept = false; ///< in this lead; the leader's
    };
    /// Gives the lead back at the end of the scope, also when something throws.
    struct Lead {
        Scheduler& scheduler;
        explicit Lead(Scheduler& of) noexcept
          : scheduler(of) {}
        ~Lead() { scheduler.unlead(); }
        Lead(const Lead&) = delete;
        Lead& operator=(const Lead&) = delete;
    };

    bool try_lead(bool foreground) noexcept;
    /// `rests`: the leader has done nothing and has armed the lanes again.
    void unlead(bool rests = false) noexcept;
    bool lead(Condition until, Clock::time_point deadline);
    std::optional<bool> follow(Condition until, Clock::time_point deadline);
    bool over() const noexcept;
    Clock::time_point latest() const noexcept {
        return Clock::time_point(Clock::duration(end_.latest.load(std::memory_order_relaxed)));
    }
    void tell_everybody() noexcept;
    std::uint32_t turn();
    bool prepare_to_sleep(Sleeper& sleeper, std::chrono::nanoseconds& longest);
    bool rest(Condition until, Clock::time_point deadline);
    void yield();
    void progress_loop();
    void stand_by();

    const SchedulerOptions options_;
    const double nanoseconds_per_tick_;
    const BirthProcess birth_;

    // The leader's own.
    LaneTurns lanes_;
    unsigned idle_turns_ = IdleLooks::kMostTurns; ///< between two looks, as the last wait found it
    DeferredWork deferred_work_;                  ///< request() is anybody's

    Leadership lead_;
    std::atomic<bool> woken_{false}; ///< wake() was called since the last arm()
    End end_;
    Handover handover_;
    Followers followers_;

    Sleeper front_;   ///< a leading thread that waits
    Sleeper back_;    ///< the progress thread
    Sleeper foreign_; ///< somebody else's event loop
    std::thread thread_;
};

} // namespace plexus::poll
