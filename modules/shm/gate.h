// SPDX-License-Identifier: BSD-3-Clause
// Whether the sends of a link get through. While the gate is open, the ring and the area belong to send();
// while a stream is under way, to the poller, which carries the stream on.
//
// [gate] Changes are seq_cst, and so is the flag of RoomWait: a send that is turned away sets that flag and
// reads the gate again; whoever opens the gate reads the flag afterwards. So one of the two sees the other's
// store.
#pragma once

#include <atomic>
#include <cstdint>

namespace plexus::shm {

class Gate {
  public:
    // @thread any

    bool is_open(std::memory_order order = std::memory_order_acquire) const noexcept {
        return bits_.load(order) == 0;
    }
    enum class Passage : std::uint8_t {
        open,
        later, ///< not now
        never, ///< not any more
    };
    /// By one look.
    Passage passage() const noexcept {
        const std::uint32_t bits = bits_.load(std::memory_order_acquire);
        if (bits == 0) return Passage::open;
        return (bits & (kBroken | kClosed)) != 0 ? Passage::never : Passage::later;
    }
    /// No send will get through any more.
    bool is_over() const noexcept { return has(kBroken | kClosed, std::memory_order_acquire); }
    bool is_broken() const noexcept { return has(kBroken, std::memory_order_acquire); }
    bool is_streaming() const noexcept { return has(kStreaming, std::memory_order_acquire); }
    /// Nothing is attached yet.
    bool is_connecting() const noexcept { return has(kConnecting, std::memory_order_seq_cst); }

    /// By the send that leaves a stream behind.
    void begin_stream() noexcept { bits_.fetch_or(kStreaming, std::memory_order_seq_cst); }

    // @thread progress

    /// The link is open.
    void open() noexcept { bits_.fetch_and(~std::uint32_t{kConnecting}, std::memory_order_seq_cst); }
    /// Refuses sends from now on; what is posted goes on.
    void close() noexcept { bits_.fetch_or(kClosed, std::memory_order_seq_cst); }
    /// Refuses sends from now on; what is posted is lost.
    void break_off() noexcept { bits_.fetch_or(kBroken, std::memory_order_seq_cst); }
    void end_stream() noexcept { bits_.fetch_and(~std::uint32_t{kStreaming}, std::memory_order_seq_cst); }

  private:
    enum Bits : std::uint32_t { kConnecting = 1, kStreaming = 2, kBroken = 4, kClosed = 8 };
    bool has(std::uint32_t any_of, std::memory_order order) const noexcept {
        return (bits_.load(order) & any_of) != 0;
    }

    std::atomic<std::uint32_t> bits_{kConnecting};
};

} // namespace plexus::shm
