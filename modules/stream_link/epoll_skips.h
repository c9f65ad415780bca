// SPDX-License-Identifier: BSD-3-Clause
// In how many turns the epoll set is left out. While only the links that are read directly have work, the
// others are asked ever more rarely. A pure value.
#pragma once

#include <algorithm>
#include <cstdint>

namespace plexus::stream_link {

class EpollSkips {
  public:
    /// Once in each turn. False: this turn leaves the epoll set out.
    bool is_due() noexcept {
        if (left_ == 0) return true;
        --left_;
        return false;
    }
    /// Between the two, found() says that epoll has found work.
    void begin_wait() noexcept { found_ = false; }
    void end_wait() noexcept {
        skips_ = found_ ? 0 : std::min(2 * skips_ + 1, kMost);
        left_ = skips_;
    }
    void found() noexcept { found_ = true; }
    /// The next turn asks.
    void stop() noexcept { left_ = 0; }

    static constexpr std::uint32_t kMost = 16;

  private:
    std::uint32_t skips_ = 0;
    std::uint32_t left_ = 0;
    bool found_ = false;
};

} // namespace plexus::stream_link
