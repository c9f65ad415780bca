// SPDX-License-Identifier: BSD-3-Clause
// Policy of the poll loop: which lanes are asked in a turn, and how much each may handle. Knows nothing of
// threads, sleep or deferred work.
//
// Turns are short as a rule, so lanes are skipped by counting turns. Handlers may make a turn long: after a
// long one (TurnClock) every lane is asked in the next turn.
#pragma once

#include "poll/crowd.h"
#include "poll/lane.h"
#include "poll/turn_clock.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace plexus::poll {

/// The leader's own, except all(), place() and begin(). @thread progress
class LaneTurns {
  public:
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
        if (handled > 0 && clock_.count_turn()) glance();
        return handled;
    }
    /// Every lane is due in the next turn.
    void ask_all() noexcept;

    /// True once after a stretch of busy turns that calls for a look at the clock.
    bool take_clock_due() noexcept { return clock_.take_clock_due(); }
    /// Counts a turn in which nothing was handled towards the next glance. For callers that take a turn
    /// from time to time only.
    void count_idle_turn() noexcept {
        if (clock_.count_turn()) glance();
    }
    /// Reads the processor's counter. ask() does so itself in some of the turns that handle something.
    void glance() noexcept {
        if (clock_.glance()) ask_all();
    }
    /// See TurnClock.
    void forget_time() noexcept { clock_.forget_time(); }
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
        const auto handled = static_cast<std::uint32_t>(lane.poll(lane.module, clock_.budget()));
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
    TurnClock clock_;
};

} // namespace plexus::poll
