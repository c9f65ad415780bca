// SPDX-License-Identifier: BSD-3-Clause
// Room for messages that are too long for the ring: the sender's bookkeeping over one
// stretch of shared memory, used from front to back and round again. Cycling through all of
// it, instead of reusing the warmest part, is deliberate: a core reads what has left the
// writer's private cache several times faster than what is still dirty there.
//
// Positions only grow; the offset is the position modulo the size. @thread one
#pragma once

#include "base/sealed_memory.h"
#include "shm/layout.h"

#include <optional>

namespace plexus::shm {

class AreaWriter {
  public:
    void attach(const std::atomic<std::uint64_t>& released) noexcept { released_ = &released; }
    void give(SealedMemory memory) noexcept {
        memory_ = std::move(memory);
        populated_at_ = memory_.size();
    }
    bool exists() const noexcept { return static_cast<bool>(memory_); }

    std::byte* at(const AreaBody& part) const noexcept { return memory_.data() + part.offset; }

    /// Contiguous room for `size` bytes, at most a quarter of the area and a head; empty: not now.
    std::optional<AreaBody> take(std::uint64_t size) noexcept {
        const std::uint64_t start = start_for(size);
        const std::uint64_t end = start + round_up(size);
        if (end - freed_ > memory_.size() && !refresh(end)) return std::nullopt;
        head_.store(end, std::memory_order_relaxed);
        return AreaBody{start & (memory_.size() - 1), size, end};
    }

    /// The value of `released` from which on take(size) succeeds.
    std::uint64_t roomy_at(std::uint64_t size) const noexcept {
        const std::uint64_t end = start_for(size) + round_up(size);
        return end > memory_.size() ? end - memory_.size() : 0;
    }

    /// All pages were written since the area was given, or given back.
    bool is_populated() const noexcept { return head_.load(std::memory_order_relaxed) >= populated_at_; }

    /// Bytes that the receiver still holds. Any thread.
    std::uint64_t held() const noexcept {
        const std::uint64_t released = released_->load(std::memory_order_relaxed);
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        return released < head ? head - released : 0;
    }

    /// Gives all pages back to the system, if the receiver holds none.
    bool discard() noexcept {
        if (!refresh(head_) || freed_ != head_) return false;
        memory_.discard();
        populated_at_ = head_.load(std::memory_order_relaxed) + memory_.size();
        return true;
    }

  private:
    static constexpr std::uint64_t round_up(std::uint64_t size) noexcept {
        return (size + kLineBytes - 1) / kLineBytes * kLineBytes;
    }

    std::uint64_t start_for(std::uint64_t size) const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        const std::uint64_t left = memory_.size() - (head & (memory_.size() - 1));
        return round_up(size) <= left ? head : head + left;
    }

    bool refresh(std::uint64_t end) noexcept {
        // Pairs with the store in Receiver::release: released bytes are no longer read.
        const std::uint64_t released = released_->load(std::memory_order_acquire);
        // Only what was taken can be released, and only once: otherwise no receiver says this.
        if (released < freed_ || released > head_.load(std::memory_order_relaxed)) return false;
        freed_ = released;
        return end - freed_ <= memory_.size();
    }

    SealedMemory memory_;
    const std::atomic<std::uint64_t>* released_ = nullptr;
    std::atomic<std::uint64_t> head_{0}; // atomic for enquiries only
    std::uint64_t freed_ = 0;
    std::uint64_t populated_at_ = 0;
};

} // namespace plexus::shm
