// SPDX-License-Identifier: BSD-3-Clause
// skip_poll = auto: how many turns a lane may be left out. Pure arithmetic over what the
// scheduler measured; no clock of its own.
//
// Fruitless polls may take a share of the loop: `idle_share` (1 %) of all lanes together that
// have been quiet while others were busy, up to kBusyShare of a lane that had work a moment
// ago, and all of it while nobody else has anything to do. A cheap lane that had work lately is
// asked in every turn.
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

    /// One poll of the lane, now over. Ticks are the scheduler's.
    struct Poll {
        std::uint64_t cost;     ///< ticks
        std::uint64_t interval; ///< ticks from the end of the poll measured before to the start of this one
        std::uint64_t turns;    ///< of the loop in that time
        bool hit;               ///< it found work
        bool lately;            ///< this lane had work a short time ago
        bool others_quiet;      ///< no other lane had any for some time
        std::uint32_t idlers;   ///< lanes that share `idle_share`, this one among them
    };

    struct Limits {
        double idle_share;
        double cheap_ticks;  ///< a poll that costs at most so much is not worth a second thought where there
                             ///< is traffic
        double beside_ticks; ///< what measuring a poll and thinking about it cost beside the poll
    };
    explicit AutoSkip(const Limits& limits) noexcept
      : limits_(limits)
      , share_(limits.idle_share) {}

    /// Gives the number of turns until the next poll, at least 1.
    std::uint32_t after_poll(const Poll& poll) noexcept {
        const bool is_cheap = cost_ <= limits_.cheap_ticks;
        if (poll.hit) {
            share_ = kBusyShare;
            if (is_cheap) return turns_ = 1;
            return turns_ = std::max(1u, std::min(turns_, busy_turns_));
        }
        // A poll that was interrupted says nothing about polls: rises are followed slowly, and one poll
        // that took a thousand times as long does not make a cheap lane dear.
        const double seen = static_cast<double>(poll.cost);
        if (cost_ == 0 || seen < cost_) {
            cost_ = cost_ == 0 ? seen : (cost_ + seen) / 2;
        } else {
            cost_ += std::min((seen - cost_) * 0.03, cost_ / 2);
        }
        share_ = std::max(limits_.idle_share / std::max(1u, poll.idlers), share_ * kDecay);
        if (poll.others_quiet || (poll.lately && is_cheap)) return turns_ = 1;
        const double wanted = (cost_ + limits_.beside_ticks) * (1 - share_) / share_;
        // Time in which others had our core is no time of the loop: this too rises slowly.
        const double turn = std::max(1.0, static_cast<double>(poll.interval) /
                                              static_cast<double>(std::max<std::uint64_t>(1, poll.turns)));
        per_turn_ = per_turn_ == 0 ? turn : per_turn_ + (turn - per_turn_) * (turn < per_turn_ ? 0.5 : 0.03);
        const double next = std::clamp(wanted / per_turn_, turns_ / 4.0, turns_ * 4.0 + 1);
        turns_ = static_cast<std::uint32_t>(std::clamp(next, 1.0, static_cast<double>(kMost)));
        if (share_ > kBusyShare / 2) busy_turns_ = turns_;
        return turns_;
    }

    double cost_ticks() const noexcept { return cost_; }
    std::uint32_t turns() const noexcept { return turns_; }

  private:
    Limits limits_;
    double share_;
    double cost_ = 0;
    double per_turn_ = 0;
    std::uint32_t turns_ = 1;
    std::uint32_t busy_turns_ = 64; // what fitted when the lane was last busy
};

} // namespace plexus::poll
