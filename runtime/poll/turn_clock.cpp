// SPDX-License-Identifier: BSD-3-Clause
#include "poll/turn_clock.h"

#include "base/clock.h"

#include <algorithm>

namespace plexus::poll {
namespace {

constexpr double kClockNs = 100'000;      // between two looks of a busy loop at the clock
constexpr std::uint32_t kGlanceEvery = 8; // counted turns, while turns are short

} // namespace

TurnClock::TurnClock(double nanoseconds_per_tick)
  : long_ticks_(static_cast<std::uint64_t>(static_cast<double>(kLongTurn.count()) / nanoseconds_per_tick))
  , clock_ticks_(static_cast<std::uint64_t>(kClockNs / nanoseconds_per_tick)) {}

bool TurnClock::glance() noexcept {
    const std::uint64_t now = ticks();
    const std::uint64_t before = std::exchange(glanced_at_, now);
    const bool is_long = before != 0 && now - before > long_ticks_;
    if (is_long) {
        budget_ = kLeastBudget;
        glance_every_ = 1;
        clock_due_ = true;
    } else {
        budget_ = std::min(kBudget, budget_ * 2);
        glance_every_ = std::min(kGlanceEvery, glance_every_ * 2);
        clock_due_ = clock_due_ || now - clock_at_ > clock_ticks_;
    }
    if (clock_due_) clock_at_ = now;
    glance_in_ = glance_every_;
    return is_long;
}

} // namespace plexus::poll
