// SPDX-License-Identifier: BSD-3-Clause
// The poll loop of one context: which lanes are asked in each turn, and how a thread waits.
// Knows nothing of messages or peers.
//
// Who polls: one thread at a time, the leader. A thread that waits leads if nobody does;
// others follow: they watch their own condition, then sleep until the leader has news. When
// nobody waits the context's own progress thread leads. It never holds the lead while it
// sleeps, so a thread that comes to wait takes over without a switch.
#pragma once

#include "base/mutex.h"
#include "base/unique_fd.h"
#include "poll/lane.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <optional>
#include <pthread.h>
#include <thread>
#include <vector>

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
    static constexpr std::uint32_t kBudget = 32; ///< events a lane may handle in one turn

    explicit Scheduler(SchedulerOptions options);
    ~Scheduler();

    /// Before anybody polls. Gives the lane's index.
    std::size_t add(LaneSource lane);
    void start_progress_thread();
    /// No poll runs any more when it returns, and none will start. @thread setup
    void stop();

    /// Called by the leader in a turn after request_chores(): the comm room's unfinished work.
    /// Gives how long until it wants to be called again without request; max(): never.
    void set_chores(std::function<std::chrono::nanoseconds()> chores) { chores_ = std::move(chores); }
    void request_chores() noexcept;

    /// One turn if nobody leads. Never blocks. @thread any
    std::uint32_t progress();

    /// Makes progress until the condition holds (true) or the deadline has passed (false).
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
        return in_turn_.load(std::memory_order_relaxed) &&
               ::pthread_equal(leader_.load(std::memory_order_relaxed), ::pthread_self());
    }

    /// For a foreign event loop. @thread any
    int fd() const noexcept { return foreign_.set.get(); }
    bool arm();

    /// Lanes are only added, so references stay good.
    std::deque<Lane>& lanes() noexcept { return lanes_; }
    const std::deque<Lane>& lanes() const noexcept { return lanes_; }

  private:
    /// Where one kind of thread sleeps: an epoll set over the lanes' descriptors and a bell.
    struct Bed {
        explicit Bed(std::uint32_t lane_events);
        void ring() noexcept;
        void quiet() noexcept;

        UniqueFd set;
        UniqueFd bell;
        std::uint32_t lane_events;
        std::vector<bool> watched; ///< per lane; the leader's
        // [asleep] in rest() pairs with the fence in wake(): the ringer sees the sleeper, or the
        // sleeper what happened.
        std::atomic<bool> asleep{false};
    };

    bool try_lead(bool foreground) noexcept;
    void unlead() noexcept;
    bool lead(Condition until, Clock::time_point deadline);
    std::optional<bool> follow(Condition until, Clock::time_point deadline);
    void tell_followers() noexcept;
    std::uint32_t turn();
    std::uint32_t poll_lane(Lane& lane);
    std::uint32_t poll_measured(Lane& lane);
    std::uint32_t poll_due();
    void ask_again(Lane& lane, std::uint32_t turns) noexcept;
    void run_chores();
    bool prepare_to_sleep(Bed& bed, std::chrono::nanoseconds& longest);
    void yield();
    void rest(Bed& bed, Clock::time_point deadline, std::chrono::nanoseconds longest);
    void progress_loop();
    void stand_by();

    const SchedulerOptions options_;
    double crowded_ = 0; ///< share of recent yields that ran somebody else; the leader's
    const double nanoseconds_per_tick_;
    std::deque<Lane> lanes_;

    // The leader's own.
    std::function<std::chrono::nanoseconds()> chores_;
    Clock::time_point next_chores_ = Clock::time_point::max();
    std::uint64_t hits_ = 0; ///< polls that found work, all lanes
    unsigned busy_turns_ = 0;
    std::uint32_t idlers_ = 0; ///< lanes that `auto` has wait
    // A lane that is left out costs a turn nothing: only these are gone through.
    std::vector<Lane*> asked_;   ///< in every turn
    std::uint64_t turns_ = 0;    ///< so far
    std::uint64_t next_due_ = 0; ///< the first turn in which another lane is due, or asked_ is wrong
    bool slept_ = false;         ///< in this lead

    // Each thread compares them with itself: only its own writes matter to it.
    std::atomic<pthread_t> leader_{};
    std::atomic<bool> in_turn_{false};

    // [lead] the exchange in try_lead() pairs with the store in unlead(): a new leader sees all
    // that the last one did.
    std::atomic<bool> leading_{false};
    std::atomic<std::uint64_t> activity_{0}; ///< foreground leads so far; a heartbeat, no message
    std::atomic<bool> chores_wanted_{false}; ///< [chores] set after the work was put down
    std::atomic<bool> stopping_{false};      ///< the bells are rung after it

    std::atomic<std::uint32_t> wanting_{0};   ///< threads that would lead; a hint to the progress thread
    std::atomic<std::uint32_t> followers_{0}; ///< [follow] see tell_followers()
    std::mutex mutex_;                        ///< below only; a leaf
    std::condition_variable news_;
    std::condition_variable standby_;
    std::uint64_t news_count_ = 0;
    bool leader_will_tell_ = false; ///< it has slept, so leaving is no fast path any more

    Bed front_;   ///< a leading thread that waits
    Bed back_;    ///< the progress thread
    Bed foreign_; ///< somebody else's event loop
    std::thread thread_;
};

} // namespace plexus::poll
