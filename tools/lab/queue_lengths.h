// SPDX-License-Identifier: BSD-3-Clause
// How many bytes frames found waiting before them where they were to be sent. Pure counting.
#pragma once

#include <array>
#include <cstdint>

namespace plexus::tools::lab {

class QueueLengths {
  public:
    void add(std::uint64_t bytes);
    void add(const QueueLengths& others);
    std::uint64_t frames() const noexcept { return frames_; }
    std::uint64_t most() const noexcept { return most_; }
    /// At most so many bytes were before `share` of the frames; exact to a sixteenth.
    std::uint64_t quantile(double share) const;

  private:
    static constexpr std::size_t kSteps = 16; // of each power of two
    std::array<std::uint64_t, 40 * kSteps> buckets_{};
    std::uint64_t frames_ = 0;
    std::uint64_t most_ = 0;
};

} // namespace plexus::tools::lab
