// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong and when: read from the module's parameters once, then only read. The
// same seed and the same calls on a link give the same faults.
#pragma once

#include "plexus/module/module.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace plexus::faults {

struct Plan {
    std::string over; ///< the inner method
    std::uint64_t seed = 1;
    std::chrono::nanoseconds delay{0}; ///< each message waits this long at the receiver
    std::uint32_t withhold_polls = 0;  ///< … and for this many polls
    std::uint32_t again_every = 0;     ///< one send in n answers AGAIN; 0: none
    std::uint32_t drop_link_every = 0; ///< a link is cut at its n-th message; 0: never
    std::uint32_t refuse_connect = 0;  ///< every n-th connect fails; 0: none
};

/// Nothing, and the reason in the log, if a parameter is bad.
std::optional<Plan> read_plan(const plexus_host& host);

/// A small generator (splitmix64), one per link, so that links do not disturb each other.
class Dice {
  public:
    explicit Dice(std::uint64_t seed)
      : state_(seed) {}

    std::uint64_t roll() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// True once in `every` rolls on average; never for 0.
    bool hits(std::uint32_t every) noexcept { return every != 0 && roll() % every == 0; }

  private:
    std::uint64_t state_;
};

} // namespace plexus::faults
