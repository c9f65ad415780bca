// SPDX-License-Identifier: BSD-3-Clause
// skip_poll = auto: how many turns a lane may be left out. Pure arithmetic over what the
// scheduler measured; no clock of its own.
//
// Fruitless polls of an expensive lane may take a share of the loop: `idle_share` (1 %) when
// the lane has been quiet while others were busy, up to kBusyShare when it had work a moment
// ago, and all of it while nobody else has anything to do. A cheap lane is asked in every turn.
#pragma once

#include <algorithm>
#include <cstdint>

namespace plexus::poll {

class AutoSkip {
  public:
    /// Share of the loop that a lane with recent work may waste.
    static constexpr double kBusyShare = 0.2;
    /// Every fruitless poll brings the share this much nearer to idle.
    static constexpr double kDecay = 0.97;
    static constexpr std::uint32_t kMost = 1u << 16;

    /// Ticks are the scheduler's; a poll that costs at most `cheap_ticks` is never skipped.
    AutoSkip(double idle_share, double cheap_ticks) noexcept
      : idle_share_(idle_share)
      , share_(idle_share)
      , cheap_ticks_(cheap_ticks) {}

    /// One poll of the lane is over. `cost`: its ticks; `interval`: ticks from the end of the
    /// poll before to the start of this one; `hit`: it found work; `others_quiet`: no other lane
    /// had any for some time. Gives the number of turns until the next poll, at least 1.
    std::uint32_t after_poll(std::uint64_t cost, std::uint64_t interval, bool hit,
                             bool others_quiet) noexcept {
        if (hit) {
            share_ = kBusyShare;
            return turns_ = std::max(1u, std::min(turns_, busy_turns_));
        }
        // A poll that was interrupted says nothing about polls: follow rises slowly.
        const double seen = static_cast<double>(cost);
        cost_ = cost_ == 0 ? seen : cost_ + (seen - cost_) * (seen < cost_ ? 0.5 : 0.03);
        share_ = std::max(idle_share_, share_ * kDecay);
        if (others_quiet || cost_ <= cheap_ticks_) return turns_ = 1;
        const double wanted = cost_ * (1 - share_) / share_;
        // Time in which others had our core is no time of the loop: this too rises slowly.
        const double turn = std::max(1.0, static_cast<double>(interval) / turns_);
        per_turn_ = per_turn_ == 0 ? turn : per_turn_ + (turn - per_turn_) * (turn < per_turn_ ? 0.5 : 0.03);
        const double next = std::clamp(wanted / per_turn_, turns_ / 4.0, turns_ * 4.0 + 1);
        turns_ = static_cast<std::uint32_t>(std::clamp(next, 1.0, static_cast<double>(kMost)));
        if (share_ > kBusyShare / 2) busy_turns_ = turns_;
        return turns_;
    }

    double cost_ticks() const noexcept { return cost_; }
    std::uint32_t turns() const noexcept { return turns_; }

  private:
    double idle_share_;
    double share_;
    double cheap_ticks_;
    double cost_ = 0;
    double per_turn_ = 0;
    std::uint32_t turns_ = 1;
    std::uint32_t busy_turns_ = 64; // what fitted when the lane was last busy
};

} // namespace plexus::poll
