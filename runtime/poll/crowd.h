// SPDX-License-Identifier: BSD-3-Clause
// Who else wants this thread's core, as yields tell: whether one ran another thread, and for how long. One
// that polls as well yields back within microseconds; one that computes keeps the core for a slice of the
// kernel's. Pure arithmetic, no clock of its own.
#pragma once

#include <chrono>
#include <cstdint>

namespace plexus::poll {

class Crowd {
  public:
    /// Below the shortest slice that Linux gives a thread that computes (0.7 ms), above what one takes that
    /// polls and yields.
    static constexpr std::chrono::nanoseconds kSlice{400'000};

    /// Whether the next yield is one of those that are looked at. The kernel is asked then whether the yield
    /// ran another thread: how long it takes depends on the machine.
    bool take_look_due() noexcept { return yields_++ % kEvery == 0; }
    /// What a yield that was looked at did.
    void note_yield(bool ran_another) noexcept {
        follow(any_, ran_another);
        follow(pollers_, ran_another);
        follow(computing_, false);
    }
    /// A yield took so long, looked at or not. The next one that runs who kept the core costs as much: there
    /// is none before many others have come back soon.
    void note_length(double nanoseconds) noexcept {
        if (nanoseconds <= static_cast<double>(kSlice.count())) return;
        pollers_ = 0;
        computing_ = 1;
    }

    /// Others compute on this core: each poll takes their time.
    bool computes() const noexcept { return any_ > kSome && computing_ > kSome && !polls(); }
    /// Those others poll: a thread that spins keeps them from a message, perhaps from the one that it waits
    /// for, and a yield costs it little.
    bool polls() const noexcept { return pollers_ > kMany; }

  private:
    static constexpr std::uint32_t kEvery = 8;
    static constexpr double kStep = 0.1; ///< how much one yield says
    static constexpr double kSome = 0.1;
    static constexpr double kMany = 0.25;

    static void follow(double& share, bool seen) noexcept { share += ((seen ? 1.0 : 0.0) - share) * kStep; }

    std::uint32_t yields_ = 0;
    double any_ = 0;       ///< share of recent yields that ran somebody else
    double pollers_ = 0;   ///< the same since a yield that took long
    double computing_ = 0; ///< 1 at a yield that took long, less with each that was looked at since
};

} // namespace plexus::poll
