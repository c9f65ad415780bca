// SPDX-License-Identifier: BSD-3-Clause
// Policy of the poll loop: which lanes are asked in a turn, how much each may handle, and when the loop
// has to look at the clock. Knows nothing of threads, sleep or deferred work.
//
// Turns are short as a rule, so lanes are skipped by counting turns. Handlers may make a turn long. So the
// processor's counter is read now and then; when more than kLongTurn has gone by since the last reading,
// every lane is asked in the next turn, lanes get a smaller budget, and each turn is watched until turns
// are short again.
#pragma once

#include "poll/crowd.h"
#include "poll/lane.h"

#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace plexus::poll {

/// The leader's own, but for all(), place() and begin(). @thread progress
class LaneTurns {
  public:
    static constexpr std::uint32_t kBudget = 32; ///< events a lane may handle in one turn
    static constexpr std::uint32_t kLeastBudget = 4;
    /// A turn that took longer delays everything that is counted in turns.
    static constexpr std::chrono::nanoseconds kLongTurn = std::chrono::milliseconds(1);

    explicit LaneTurns(double idle_share);

    /// The lane is not asked before begin(). Turns may go on meanwhile. @thread one
    Lane& place(LaneSource source);
    /// Every lane that was placed is asked: from the first turn on, or from the one after notice_begun().
    /// @thread one, that of place()
    void begin() noexcept { begun_.store(lanes_.size(), std::memory_order_release); } // [begun]
    Lane& add(LaneSource source) {
        Lane& lane = place(std::move(source));
        begin();
        return lane;
    }
    void notice_begun() noexcept {
        if (begun_.load(std::memory_order_relaxed) != known_) next_due_ = 0;
    }
    /// All that were placed. @thread any
    const Lanes& all() const noexcept { return lanes_; }
    /// Those that turns ask.
    std::span<const std::unique_ptr<Lane>> asked() const noexcept { return lanes_.all().first(known_); }

    /// One turn: asks the lanes that are due. Gives the number of events handled.
    std::uint32_t ask() {
        std::uint32_t handled = 0;
        ++turns_;
        for (Lane* lane : asked_) handled += poll_lane(*lane);
        if (turns_ >= next_due_) handled += ask_due();
        if (handled > 0 && --glance_in_ == 0) glance();
        return handled;
    }
    /// Every lane is due in the next turn.
    void ask_all() noexcept;

    /// True once after a stretch of busy turns that calls for a look at the clock.
    bool take_clock_due() noexcept {
        if (!clock_due_) [[likely]]
            return false;
        clock_due_ = false;
        return true;
    }
    /// Counts a turn in which nothing was handled towards the next glance. For callers that take a turn
    /// from time to time only.
    void count_idle_turn() noexcept {
        if (--glance_in_ == 0) glance();
    }
    /// Reads the processor's counter. ask() does so itself in some of the turns that handle something.
    void glance() noexcept;
    /// The loop was idle on purpose: the time up to now is no long turn.
    void forget_time() noexcept { glanced_at_ = 0; }
    /// Learns whether polls take the time of others. @thread progress
    Crowd& crowd() noexcept { return crowd_; }

  private:
    static constexpr std::uint64_t kSample = 1024; ///< every so many polls a lane of known cost is measured

    std::uint32_t poll_lane(Lane& lane) {
        const bool plain = lane.guards.load(std::memory_order_relaxed) == 0 &&
                           !lane.confined.load(std::memory_order_relaxed) && lane.watcher == nullptr;
        if (!plain || lane.timed || lane.polls.load(std::memory_order_relaxed) % kSample == 0)
            return poll_specially(lane);
        ask_again(lane, 1);
        bump(lane.polls);
        const auto handled = static_cast<std::uint32_t>(lane.poll(lane.module, budget_));
        if (handled > 0) {
            bump(lane.hits);
            ++hits_;
        }
        return handled;
    }
    void ask_again(Lane& lane, std::uint32_t turns) noexcept {
        lane.due = turns_ + turns;
        if ((turns == 1) != lane.every_turn) next_due_ = 0;
    }
    std::uint32_t ask_due();
    std::uint32_t poll_specially(Lane& lane);
    std::uint32_t poll_measured(Lane& lane);
    std::uint32_t poll_watched(Lane& lane);

    const double idle_share_;
    const double nanoseconds_per_tick_;
    const std::uint64_t long_ticks_;  ///< kLongTurn
    const std::uint64_t clock_ticks_; ///< a busy loop looks at the clock so often
    Lanes lanes_;
    std::atomic<std::size_t> begun_{0}; // [begun] set after all that the lanes' polls lead to was made
    std::size_t known_ = 0;             ///< of those, as the last ask_due() or ask_all() saw it
    // A lane that is left out costs a turn nothing: only these are gone through.
    std::vector<Lane*> asked_;   ///< in every turn
    std::uint64_t turns_ = 0;    ///< so far
    std::uint64_t next_due_ = 0; ///< the first turn in which another lane is due, or asked_ is wrong
    std::uint64_t hits_ = 0;     ///< polls that found work, all lanes
    std::uint32_t idlers_ = 0;   ///< lanes that `auto` has wait
    Crowd crowd_;
    std::uint32_t budget_ = kBudget; ///< of each poll
    std::uint32_t glance_in_ = 1;    ///< counted turns until the next glance
    std::uint32_t glance_every_ = 1;
    std::uint64_t glanced_at_ = 0; ///< ticks; 0: the next glance begins anew
    std::uint64_t clock_at_ = 0;   ///< ticks, when clock_due_ was set last
    bool clock_due_ = false;
};

} // namespace plexus::poll
