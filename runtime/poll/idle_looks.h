// SPDX-License-Identifier: BSD-3-Clause
// After how many idle turns a thread that spins looks at the clock: many where a turn is a read of memory,
// few where each is a system call or runs slowly, so that a spin ends about when it should. Pure arithmetic,
// no clock of its own.
#pragma once

#include <algorithm>
#include <chrono>

namespace plexus::poll {

/// The leader's own.
class IdleLooks {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr unsigned kMostTurns = 64;

    /// `spin`: how long the thread spins before it yields. Two looks are at most about an eighth of that
    /// apart.
    explicit IdleLooks(std::chrono::nanoseconds spin) noexcept
      : far_(std::max<std::chrono::nanoseconds>(spin / 8, std::chrono::microseconds(1))) {}

    /// Something was handled, or the thread has slept: turns are counted anew.
    void restart() noexcept {
        left_ = turns_;
        last_ = {};
    }
    /// The next idle turn looks: the thread has yielded.
    void look_next() noexcept {
        left_ = 1;
        last_ = {};
    }
    /// Counts an idle turn. True: a look is due.
    bool count_turn() noexcept { return --left_ == 0; }
    /// A look was taken. All turns since the one before were idle ones, or restart() or look_next() was
    /// called.
    void note(Time now) noexcept {
        if (last_ != Time{}) {
            if (now - last_ > far_) {
                turns_ = std::max(1u, turns_ / 2);
            } else if (now - last_ < far_ / 4) {
                turns_ = std::min(kMostTurns, turns_ * 2);
            }
        }
        last_ = now;
        left_ = turns_;
    }

  private:
    const std::chrono::nanoseconds far_;
    unsigned turns_ = kMostTurns; ///< between two looks
    unsigned left_ = kMostTurns;  ///< until the next one
    Time last_{};                 ///< of the look before; none: something else happened since
};

} // namespace plexus::poll
