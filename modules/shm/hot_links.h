// SPDX-License-Identifier: BSD-3-Clause
// The few links that each poll looks at directly; the others ring the doorbell. Which ones these are follows
// the traffic. @thread progress
#pragma once

#include "shm/link.h"

#include <array>
#include <cstdint>

namespace plexus::shm {

class HotLinks {
  public:
    static constexpr std::uint32_t kMost = 16;

    /// `most`: of them, not above kMost.
    explicit HotLinks(std::uint32_t most)
      : most_(most) {}

    std::uint32_t size() const noexcept { return count_; }
    bool is_full() const noexcept { return count_ >= most_; }
    Link* operator[](std::uint32_t index) const noexcept { return links_[index]; }

    /// Polls a link directly from now on, unless the host has given it up. There is room.
    void add(Link& link);
    /// For good, or followed by a barrier and a last look at the ring. The last link takes the place.
    void remove(Link& link);
    /// Before a link that is not hot is served: its events count within the present period only.
    void begin_count(Link& link) noexcept;
    /// After a link that is not hot was served: the busiest of a period may take a hot link's place.
    void note(Link& link) noexcept;
    /// Ends a period: swaps the hot link that brought least with the other one that brought most, if that is
    /// clearly more. Seldom, because a barrier is dear. `has_barrier`: see full_barrier().
    void compare(Mailbox& mailbox, bool has_barrier);

    /// One of them has something to do. Exact; for the moment before falling asleep.
    bool has_news() const noexcept;
    /// Their peers ring the doorbell from now on, too: followed by a barrier and has_news().
    void expect_doorbells() noexcept;
    /// They are polled again.
    void expect_polls() noexcept;
    /// After expect_doorbells(): none is hot any more. Whoever rings first becomes hot again.
    void forget() noexcept;
    /// They are not polled again, for the module ends.
    void drop() noexcept { count_ = 0; }

  private:
    const std::uint32_t most_;
    std::uint32_t count_ = 0;
    std::uint32_t period_ = 0;
    Link* busiest_ = nullptr; // of those that aren't hot, in this period
    std::array<Link*, kMost> links_{};
};

} // namespace plexus::shm
