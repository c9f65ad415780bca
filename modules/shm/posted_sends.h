// SPDX-License-Identifier: BSD-3-Clause
// The sends that the peer reads from this process's memory, oldest first. send() appends, the poller takes
// the oldest away.
#pragma once

#include "plexus/module/abi.h"
#include "shm/layout.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace plexus::shm {

class PostedSends {
  public:
    static constexpr std::uint32_t kMost = 64; ///< and bits in Direction::fetch_failed

    struct Send {
        void* token = nullptr;
        std::uint64_t size = 0;
        std::vector<plexus_view> rest; ///< the pieces behind the head
    };

    // send(): one caller at a time

    bool is_full() const noexcept { return pushed() - ended() == kMost; }
    void push(void* token, std::uint64_t size, const plexus_view* rest, std::uint32_t count) {
        const std::uint64_t at = pushed_.load(std::memory_order_relaxed);
        Send& slot = sends_[at % kMost];
        slot.token = token;
        slot.size = size;
        slot.rest.assign(rest, rest + count);
        bytes_.fetch_add(size, std::memory_order_relaxed);
        pushed_.store(at + 1, std::memory_order_release); // [posted]
    }

    // @thread progress

    /// There is one.
    const Send& oldest() const noexcept { return sends_[ended_.load(std::memory_order_relaxed) % kMost]; }
    /// Ends the oldest.
    void* pop() noexcept {
        const Send& over = oldest();
        void* const token = over.token;
        bytes_.fetch_sub(over.size, std::memory_order_relaxed);
        ended_.fetch_add(1, std::memory_order_seq_cst); // [posted], and with RoomWait::begin
        return token;
    }

    // @thread any

    bool is_empty() const noexcept { return ended() == pushed(); }
    std::uint64_t pushed() const noexcept { return pushed_.load(std::memory_order_acquire); }
    /// seq_cst: see [blocked] in room_wait.h.
    std::uint64_t ended() const noexcept { return ended_.load(std::memory_order_seq_cst); }
    std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  private:
    std::array<Send, kMost> sends_;
    static_assert(sizeof(sends_) % kLineBytes == 0);
    // Behind the array, at the start of a cache line, next to the flag of RoomWait, with which the poller
    // reads them. [posted] push() fills a slot, then raises pushed_ (release); the poller reads it (acquire),
    // empties the slot, then raises ended_ likewise.
    std::atomic<std::uint64_t> pushed_{0};
    std::atomic<std::uint64_t> ended_{0};
    std::atomic<std::uint64_t> bytes_{0}; // for enquiries
};

} // namespace plexus::shm
