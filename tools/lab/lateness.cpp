// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/lateness.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plexus::tools::lab {

// Bucket i holds what is at most upper(i): 0 ... 7 ns each their own, then eight steps to
// each power of two.
void Lateness::add(Time late) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(late.count(), 0));
    std::size_t bucket = ns;
    if (ns >= kSteps) {
        const auto power = static_cast<std::size_t>(std::bit_width(ns)) - 4; // of the step
        bucket = (power + 1) * kSteps + (ns >> power) % kSteps;
    }
    ++buckets_[std::min(bucket, buckets_.size() - 1)];
    ++frames_;
    if (late > kBound) ++late_;
    worst_ = std::max(worst_, late);
}

Time Lateness::quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(frames_)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        seen += buckets_[i];
        if (seen < std::max<std::uint64_t>(wanted, 1)) continue;
        if (i < kSteps) return Time(static_cast<std::int64_t>(i));
        const std::size_t power = i / kSteps - 1;
        return std::min(worst_, Time(static_cast<std::int64_t>(((kSteps + i % kSteps + 1) << power) - 1)));
    }
    return worst_;
}

} // namespace plexus::tools::lab
