// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/queue_lengths.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plexus::tools::lab {

// Buckets 0 to 15 hold one length each, then sixteen steps each power of two.
void QueueLengths::add(std::uint64_t bytes) {
    std::size_t bucket = bytes;
    if (bytes >= kSteps) {
        const auto power = static_cast<std::size_t>(std::bit_width(bytes)) - 5; // of the step
        bucket = (power + 1) * kSteps + (bytes >> power) % kSteps;
    }
    ++buckets_[std::min(bucket, buckets_.size() - 1)];
    ++frames_;
    most_ = std::max(most_, bytes);
}

void QueueLengths::add(const QueueLengths& others) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += others.buckets_[i];
    frames_ += others.frames_;
    most_ = std::max(most_, others.most_);
}

std::uint64_t QueueLengths::quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(frames_)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        seen += buckets_[i];
        if (seen < std::max<std::uint64_t>(wanted, 1)) continue;
        if (i < kSteps) return i;
        const std::size_t power = i / kSteps - 1;
        return std::min(most_, ((kSteps + i % kSteps + 1) << power) - 1);
    }
    return most_;
}

} // namespace plexus::tools::lab
