// SPDX-License-Identifier: BSD-3-Clause
// After how many idle turns a thread that waits looks at the clock: many where a turn is a read of memory,
// few where each is a system call or runs slowly, so that a spin ends about when it should. Pure arithmetic,
// no clock of its own.
#pragma once

#include <algorithm>
#include <chrono>

namespace plexus::poll {

/// Of one wait.
class IdleLooks {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr unsigned kMostTurns = 64;

    /// `spin`: how long the thread spins before it yields. As soon as the time of a turn is known, two looks
    /// are at most an eighth of that apart, or one turn. `turns`: what an earlier wait has found.
    explicit IdleLooks(std::chrono::nanoseconds spin, unsigned turns = kMostTurns) noexcept
      : far_(std::max<std::chrono::nanoseconds>(spin / 8, std::chrono::microseconds(1)))
      , turns_(turns) {
        restart();
    }

    /// Between two looks.
    unsigned turns() const noexcept { return turns_; }
    /// Something was handled, or the thread has slept: turns are counted anew.
    void restart() noexcept { count_from(turns_, {}); }
    /// The thread has yielded: the next idle turn looks.
    void look_next(Time now) noexcept { count_from(1, now); }
    /// Counts an idle turn. True: a look is due.
    bool count_turn() noexcept { return --left_ == 0; }
    /// A look was taken, after an idle turn that was counted.
    void note(Time now) noexcept {
        if (last_ != Time{}) {
            const auto turn = (now - last_) / (counted_ - left_);
            turns_ = turn * kMostTurns <= far_ ? kMostTurns
                                               : static_cast<unsigned>(std::max<long>(1, far_ / turn));
        }
        count_from(turns_, now);
    }

  private:
    void count_from(unsigned turns, Time now) noexcept {
        counted_ = left_ = turns;
        last_ = now;
    }

    const std::chrono::nanoseconds far_;
    unsigned turns_;       ///< between two looks
    unsigned counted_ = 0; ///< from here down
    unsigned left_ = 0;    ///< until the next look
    Time last_{};          ///< when the count began; none: it began with something else than an idle turn
};

} // namespace plexus::poll
