// SPDX-License-Identifier: BSD-3-Clause
// How many answers and reports to a peer were dropped since the peer named what it remembers of this context.
// A peer that has forgotten this context waits for none of those of before, and is told of those alone that
// were dropped since.
#pragma once

#include "wire/frame.h"

#include <atomic>
#include <cstdint>

namespace plexus::transport {

class DroppedCounts {
  public:
    struct Counts {
        std::uint64_t memory = 0; ///< the peer's, as it named it last; 0: it was never heard
        std::uint64_t answers = 0;
        std::uint64_t reports = 0; ///< that a one-way request of the peer was refused
    };

    /// @thread any
    void add(wire::Dropped what, std::uint64_t count) noexcept {
        (what == wire::Dropped::answers ? answers_ : reports_).fetch_add(count, std::memory_order_relaxed);
    }
    /// What the peer is to be told. @thread any
    Counts now() const noexcept {
        Counts counts;
        // [named] pairs with the store in start_at(): under a memory no count of a former one is told.
        counts.memory = memory_.load(std::memory_order_acquire);
        counts.answers = answers_.load(std::memory_order_relaxed);
        counts.reports = reports_.load(std::memory_order_relaxed);
        return counts;
    }
    /// The peer has named its memory. True: it named another one before, and counts start at zero.
    /// @thread progress
    bool start_at(std::uint64_t memory) noexcept {
        const std::uint64_t former = memory_.load(std::memory_order_relaxed);
        const bool forgotten = former != 0 && former != memory;
        if (forgotten) {
            answers_.store(0, std::memory_order_relaxed);
            reports_.store(0, std::memory_order_relaxed);
        }
        memory_.store(memory, std::memory_order_release); // [named]
        return forgotten;
    }

  private:
    std::atomic<std::uint64_t> memory_{0};
    std::atomic<std::uint64_t> answers_{0}; // counts, read again for each frame that tells them
    std::atomic<std::uint64_t> reports_{0};
};

} // namespace plexus::transport
