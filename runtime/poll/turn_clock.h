// SPDX-License-Identifier: BSD-3-Clause
// How long turns are: a busy loop reads the processor's counter now and then. When more than kLongTurn has
// gone by since the last reading, lanes get a smaller budget, and each turn is watched until turns are short
// again.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

namespace plexus::poll {

/// The leader's own.
class TurnClock {
  public:
    static constexpr std::uint32_t kBudget = 32; ///< events a lane may handle in one turn
    static constexpr std::uint32_t kLeastBudget = 4;
    /// A turn that took longer delays everything that is counted in turns.
    static constexpr std::chrono::nanoseconds kLongTurn = std::chrono::milliseconds(1);

    explicit TurnClock(double nanoseconds_per_tick);

    /// Events of each poll.
    std::uint32_t budget() const noexcept { return budget_; }
    /// Counts a turn. True: glance() is due.
    bool count_turn() noexcept { return --glance_in_ == 0; }
    /// Reads the processor's counter. True: a long turn has gone by since the last reading.
    bool glance() noexcept;
    /// A poll took so many ticks: if that is long, glance() is due at the end of this turn.
    void note_poll(std::uint64_t ticks) noexcept {
        if (ticks > long_ticks_) glance_in_ = 1;
    }
    /// The loop was idle on purpose: the time up to now is no long turn.
    void forget_time() noexcept { glanced_at_ = 0; }
    /// True once after a stretch of busy turns that calls for a look at the clock.
    bool take_clock_due() noexcept {
        if (!clock_due_) [[likely]]
            return false;
        clock_due_ = false;
        return true;
    }

  private:
    const std::uint64_t long_ticks_;  ///< kLongTurn
    const std::uint64_t clock_ticks_; ///< a busy loop looks at the clock so often
    std::uint32_t budget_ = kBudget;
    std::uint32_t glance_in_ = 1; ///< counted turns until the next glance
    std::uint32_t glance_every_ = 1;
    std::uint64_t glanced_at_ = 0; ///< ticks; 0: the next glance begins anew
    std::uint64_t clock_at_ = 0;   ///< ticks, when clock_due_ was set last
    bool clock_due_ = false;
};

} // namespace plexus::poll
