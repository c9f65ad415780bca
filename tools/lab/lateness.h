// SPDX-License-Identifier: BSD-3-Clause
// How late frames left the switch. Lateness above the bound was caused by this machine, not by the
// network. Pure counting.
#pragma once

#include "tools/lab/units.h"

#include <array>
#include <cstdint>

namespace plexus::tools::lab {

class Lateness {
  public:
    static constexpr Time kBound = std::chrono::microseconds(200);

    void add(Time late);
    std::uint64_t frames() const noexcept { return frames_; }
    std::uint64_t late() const noexcept { return late_; } ///< above the bound
    Time worst() const noexcept { return worst_; }
    /// At most this late were `share` of the frames; exact to an eighth.
    Time quantile(double share) const;

  private:
    static constexpr std::size_t kSteps = 8; // of each power of two
    std::array<std::uint64_t, 40 * kSteps> buckets_{};
    std::uint64_t frames_ = 0, late_ = 0;
    Time worst_{0};
};

} // namespace plexus::tools::lab
