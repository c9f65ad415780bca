// SPDX-License-Identifier: BSD-3-Clause
// When to sleep and when to spin: sleep until shortly before an event is due, because sleeping threads
// wake late, and spin from then on, within a budget. Pure: time is an argument.
#pragma once

#include "tools/lab/units.h"

#include <algorithm>

namespace plexus::tools::lab {

class AlarmClock {
  public:
    /// How long before an event the sleep ends.
    static constexpr Time kAhead = std::chrono::microseconds(40);
    /// The budget of spinning: this share of all time, and this long at a time.
    static constexpr double kShare = 0.25;
    static constexpr Time kMostSaved = std::chrono::milliseconds(5);

    /// How long to sleep at most before an event that is due in `left`. Zero: look again at once (spin).
    Time sleep(Time now, Time left) {
        saved_ = std::min(kMostSaved, saved_ + Time(static_cast<std::int64_t>(
                                                   static_cast<double>((now - last_).count()) * kShare)));
        last_ = now;
        if (left <= Time(0)) return Time(0);
        if (saved_ <= Time(0)) return left;
        return left > kAhead ? left - kAhead : Time(0);
    }
    void note_spun(Time spun) {
        saved_ -= spun;
        spun_ += spun;
    }
    Time spun() const noexcept { return spun_; }

  private:
    Time last_{0}, saved_{0}, spun_{0};
};

} // namespace plexus::tools::lab
