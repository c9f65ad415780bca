// SPDX-License-Identifier: BSD-3-Clause
// What messages contend for between their two ends: a wire that the hosts of a subnet share, and
// the way into and out of each group of members that is close. Nobody measured that way, so it
// is taken to be one, as wide as the message's own. Pure; a value. Any thread.
#pragma once

#include "plexus/eco/network.h"

#include <cstdint>
#include <vector>

namespace plexus::eco {

class Wires {
  public:
    explicit Wires(const Network& network);

    /// Numbered from 0.
    std::uint32_t count() const noexcept { return count_; }

    /// Calls occupied(wire, us_per_byte) for each wire that a message from one to the other needs.
    template <class Occupied>
    void between(Rank from, Rank to, Occupied&& occupied) const {
        const std::uint32_t one = shared_of_[from];
        const std::uint32_t other = shared_of_[to];
        if (network_.same_host(from, to)) return;
        if (one != kNone) occupied(one, us_per_byte_[one]);
        if (other != kNone && other != one) occupied(other, us_per_byte_[other]);
        const double own = network_.us_per_byte(from, to);
        for (const Level& level : levels_) {
            if (level.group_of[from] == level.group_of[to]) return; // and so are all wider ones
            if (const std::uint32_t out = level.way_of[from]; out != kNone) occupied(out, own);
            if (const std::uint32_t in = level.way_of[to]; in != kNone) occupied(in + 1, own);
        }
    }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Level {
        std::vector<std::uint32_t> group_of; // by member
        std::vector<std::uint32_t> way_of;   // out of the group; the next number is the way in
    };

    const Network& network_;
    std::uint32_t count_ = 0;
    std::vector<std::uint32_t> shared_of_; // by member
    std::vector<double> us_per_byte_;      // of shared wires
    std::vector<Level> levels_;            // all but the widest
};

} // namespace plexus::eco
