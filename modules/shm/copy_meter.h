// SPDX-License-Identifier: BSD-3-Clause
// Measures what the strategies of a link's direction cost, and chooses by that. The sender times its copy,
// the receiver the time from the record to the last byte, which it writes into Direction::spent. Messages
// that are not measured read no clock. The times of both are added if the message met an idle receiver; of a
// message behind others only the longer time counts, because both work at once then.
//
// @thread one: whoever sends
#pragma once

#include "shm/copy_choice.h"
#include "shm/layout.h"

#include <chrono>

namespace plexus::shm {

class CopyMeter {
  public:
    /// `area_bytes`: as of CopyChoice.
    CopyMeter(Direction& out, std::uint64_t area_bytes) noexcept
      : out_(out)
      , choice_(area_bytes) {}

    /// As CopyChoice::next.
    CopyChoice::Pick next(std::uint64_t bytes, CopySet allowed, bool may_measure = true) noexcept;

    /// That message is on its way as soon as its record is published. `behind`: the receiver has not taken an
    /// earlier one yet. Returns what its record says as `sample`.
    std::uint32_t begin(std::uint64_t bytes, const CopyChoice::Pick& pick, bool behind) noexcept;
    /// The sender took so long to copy it.
    void copied(std::uint32_t sample, std::chrono::nanoseconds time) noexcept;

    CopyChoice::AllLearned learned() const noexcept { return choice_.learned(); }

  private:
    struct Open {
        std::uint64_t bytes = 0; ///< 0: free
        CopyChoice::Pick pick;
        bool behind = false;
        std::uint64_t copied_ns = 0;
    };
    void collect() noexcept;

    Direction& out_;
    CopyChoice choice_;
    std::array<Open, kSamples> samples_{};
    std::size_t open_ = 0;
};

/// The receiver's half: one measured message, from its record on.
class CopyTimer {
  public:
    CopyTimer() = default;
    /// `sample`: the record's, at most kSamples; 0: nothing is measured.
    explicit CopyTimer(std::uint32_t sample) noexcept
      : sample_(sample) {
        if (sample != 0) start_ = std::chrono::steady_clock::now();
    }
    /// The message is over. `whole`: all bytes were moved.
    void answer(Direction& in, bool whole) noexcept;

  private:
    std::uint32_t sample_ = 0;
    std::chrono::steady_clock::time_point start_{};
};

} // namespace plexus::shm
