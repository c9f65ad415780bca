// SPDX-License-Identifier: BSD-3-Clause
// When the links look at their deadlines, and how long the host may sleep beside links that wait for time to
// pass. The clock is read only while there are such links, for an idle turn has no time for it.
// @thread progress
#pragma once

#include "message_link/link_table.h"

namespace plexus::message_link {

class Timeouts {
  public:
    explicit Timeouts(std::chrono::nanoseconds dead_after)
      : dead_after_(dead_after) {}

    /// Some link has a deadline from now on.
    void expect() noexcept { expected_ = true; }
    /// check() is worth calling now and then.
    bool are_expected() const noexcept { return expected_; }
    /// Reads the clock, and ends the links whose time is up.
    void check(const LinkTable& links);

    void read_clock() noexcept { now_ = Clock::now(); }
    /// When the clock was read last.
    Clock::time_point now() const noexcept { return now_; }

    /// Lowers `sleep_ns` to what the links can wait.
    void limit_sleep(const LinkTable& links, std::uint64_t& sleep_ns) const;

  private:
    const std::chrono::nanoseconds dead_after_; // 0: never
    bool expected_ = false;
    Clock::time_point checked_{};
    Clock::time_point now_{};
};

} // namespace plexus::message_link
