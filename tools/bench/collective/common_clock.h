// SPDX-License-Identifier: BSD-3-Clause
// One time for all contexts of a job: the clock of rank 0. The other contexts ask rank 0 for the time and
// keep the difference to their own clock from the quickest exchange (the ECO paper, section 6.1: the offsets
// between clocks are determined before). Main thread.
#pragma once

#include "plexus/eco/group.h"

#include <chrono>
#include <cstdint>
#include <functional>

namespace plexus::tools::benchmark {

class CommonClock {
  public:
    /// All contexts of the job make one. @error timed_out not_found rank 0 does not come (thrown)
    CommonClock(Context& here, const eco::Group& world);

    /// Determines the difference anew, few contexts at a time; all call it. `alive` is called
    /// after each few.
    void set(const std::function<void()>& alive);
    /// set() if the last set() was so long ago that clocks may have drifted; all call it.
    void keep(const std::function<void()>& alive);

    /// Nanoseconds of rank 0's steady clock.
    std::int64_t now() const noexcept { return own() + ahead_; }
    /// Makes progress until then.
    void wait_until(std::int64_t then) const;

    /// The object that rank 0 publishes.
    struct Face {};

  private:
    static std::int64_t own() noexcept {
        return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    void ask();

    Context& here_;
    const eco::Group& world_;
    Face face_;
    Bound<Face> bound_;
    GlobalPointer<Face> first_;
    std::int64_t ahead_ = 0; ///< rank 0's clock minus ours
    std::int64_t set_at_ = 0;
};

} // namespace plexus::tools::benchmark
