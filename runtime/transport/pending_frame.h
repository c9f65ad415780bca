// SPDX-License-Identifier: BSD-3-Clause
// Frames that outlive the call that sent them: copies that wait or are kept until the far
// side has acknowledged them, and borrowed frames whose caller waits.
#pragma once

#include "base/buffer.h"
#include "plexus/status.h"
#include "transport/frame.h"

#include <atomic>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace plexus::transport {

class Channel;

/// What a module gives back when a posted send, get or put is over.
struct Completion {
    void (*ended)(Completion*, Status);
};

/// A thread that waits for the end of its own frame; lives on that thread's stack.
struct Waiter : Completion {
    // [settled] the release in settle() pairs with the acquire in done(): the waiter may leave.
    std::atomic<bool> over{false};
    Status status = Status::ok;

    Waiter()
      : Completion{[](Completion* self, Status s) { static_cast<Waiter*>(self)->settle(s); }} {}
    void settle(Status s) noexcept {
        status = s;
        over.store(true, std::memory_order_release);
    }
    bool done() const noexcept { return over.load(std::memory_order_acquire); }
};

struct PendingFrame : Completion {
    static constexpr std::size_t kInline = 96;

    detail::Piece piece[2]{}; ///< of our own copy: head, rest
    const detail::Piece* pieces = piece;
    std::uint32_t count = 0;
    std::uint16_t holders = 0;   ///< links that have posted the frame and not ended the post
    std::uint16_t replays = 0;   ///< times in a row that the frame was the first to be sent again
    bool dropped = false;        ///< of no use any more: freed when the last holder ends
    Status outcome = Status::ok; ///< what the waiter is told when the last holder ends
    std::size_t size = 0;
    std::size_t cost_bytes = sizeof(PendingFrame);
    Channel* owner = nullptr;
    Waiter* waiter = nullptr; ///< the caller waits, the pieces are the caller's own
    Buffer more;
    std::shared_ptr<const void> pin;
    /// What its pointer asked for, as in Frame; `within` is null once the peer is known to be within.
    struct Asked {
        bool stays = false;
        std::unique_ptr<const method::Boundary> within;
    } asked;
    alignas(8) std::byte room[kInline];

    explicit PendingFrame(void (*on_end)(Completion*, Status))
      : Completion{on_end} {}
    /// Finds room for a copy of `frame`, without the pieces that its pin keeps alive; copy() then
    /// fills it. make_room() may throw, copy() does not: a frame can be sent between the two.
    void make_room(const Frame& frame);
    void copy(const Frame& frame) noexcept;
    const plexus_view* views() const noexcept { return reinterpret_cast<const plexus_view*>(pieces); }
    /// Bytes of memory that the frame costs this process: its record and its copy.
    std::size_t cost() const noexcept { return cost_bytes; }
    /// The same for a copy of `frame`.
    static std::size_t cost_of(const Frame& frame) noexcept;
};

using PendingFramePtr = std::unique_ptr<PendingFrame>;
using PendingFrames = std::deque<PendingFramePtr>;

/// Records of frames that ended, to be used again; and the memory of those that a module still reads.
class FramePool {
  public:
    PendingFramePtr take(void (*on_end)(Completion*, Status));
    /// Nobody needs the frame any more: ends its waiter, or keeps the record. If a module still reads
    /// the frame, ended() does so later.
    void release(PendingFramePtr frame, Status status);
    /// The same, except that the record is freed.
    void retire(PendingFramePtr frame, Status status);
    /// A module has let go of the frame. The frame, if it was released before and nobody else holds it.
    PendingFramePtr ended(PendingFrame& frame) noexcept;
    /// Memory of frames that were released and that a module still reads, in bytes.
    std::uint64_t posted_bytes() const noexcept { return posted_bytes_; }
    /// Pins of frames that are over. Letting go of a pin may unbind an object, so the caller does that
    /// without any lock.
    std::vector<std::shared_ptr<const void>> take_pins() noexcept { return std::exchange(pins_, {}); }
    bool has_pins() const noexcept { return !pins_.empty(); }

  private:
    std::vector<PendingFramePtr> spare_;
    std::uint64_t posted_bytes_ = 0;
    std::vector<std::shared_ptr<const void>> pins_;
};

/// Copies a frame, except what its pin keeps alive.
PendingFramePtr copy_of(const Frame& frame, void (*on_end)(Completion*, Status));
/// Copies one contiguous encoded frame.
PendingFramePtr copy_of(wire::View bytes, void (*on_end)(Completion*, Status));

} // namespace plexus::transport
