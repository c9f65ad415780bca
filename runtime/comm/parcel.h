// SPDX-License-Identifier: BSD-3-Clause
// Frames on their way out: as the caller built them, and as they are kept where the caller
// can't wait or the link may break.
#pragma once

#include "base/buffer.h"
#include "plexus/archive.h"
#include "plexus/module/abi.h"
#include "plexus/status.h"
#include "wire/frame.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>

namespace plexus::comm {

static_assert(sizeof(detail::Piece) == sizeof(plexus_view), "pieces are handed to modules as they are");

/// A frame as its sender has it: pieces that belong to the caller.
struct Frame {
    const detail::Piece* pieces = nullptr;
    std::uint32_t count = 0;
    std::size_t size = 0;
    std::byte* head = nullptr; ///< piece 0, to set a flag in
    /// What the far side must know before; null: nothing.
    const wire::Declare* declare = nullptr;
    std::span<const detail::Route* const> carried{};
    /// Keeps pieces 1… alive without a copy where the caller can't wait; null: they are copied.
    std::shared_ptr<const void> pin{};

    const plexus_view* views() const noexcept { return reinterpret_cast<const plexus_view*>(pieces); }
};

/// One stretch of bytes that is a frame already.
struct WholeFrame : Frame {
    explicit WholeFrame(wire::View bytes) noexcept
      : two{{bytes.data(), std::min<std::size_t>(bytes.size(), PLEXUS_HEAD_MAX)}, {}} {
        two[1] = {bytes.data() + two[0].size, bytes.size() - two[0].size};
        pieces = two;
        count = two[1].size > 0 ? 2 : 1;
        size = bytes.size();
    }
    WholeFrame(const WholeFrame&) = delete;
    WholeFrame& operator=(const WholeFrame&) = delete;

  private:
    detail::Piece two[2];
};

/// What a module gives back when a posted send is over.
struct Posted {
    void (*ended)(Posted*, Status);
};

/// A thread that waits for its own frame; lives on its stack.
struct Ticket : Posted {
    // [settled] the release in settle() pairs with the acquire in done(): the waiter may leave.
    std::atomic<bool> over{false};
    Status status = Status::ok;

    Ticket()
      : Posted{[](Posted* self, Status s) { static_cast<Ticket*>(self)->settle(s); }} {}
    void settle(Status s) noexcept {
        status = s;
        over.store(true, std::memory_order_release);
    }
    bool done() const noexcept { return over.load(std::memory_order_acquire); }
};

/// A frame that outlives the call that sent it.
class Object;

struct Parcel : Posted {
    static constexpr std::size_t kInline = 96;

    detail::Piece piece[2]{}; ///< of our own copy: head, rest
    const detail::Piece* pieces = piece;
    std::uint32_t count = 0;
    std::size_t size = 0;
    bool with_module = false; ///< posted and not yet ended
    bool dropped = false;     ///< nobody else wants it: it ends when the module lets go
    Object* owner = nullptr;
    Ticket* ticket = nullptr; ///< the caller waits, the pieces are its own
    Buffer more;
    std::shared_ptr<const void> pin;
    alignas(8) std::byte room[kInline];

    explicit Parcel(void (*on_end)(Posted*, Status))
      : Posted{on_end} {}
    /// Finds room for a copy of `frame`, but for what its pin keeps alive; then copies. What may
    /// throw comes first, so that a frame can be sent between the two.
    void make_room(const Frame& frame);
    void copy(const Frame& frame) noexcept;
    const plexus_view* views() const noexcept { return reinterpret_cast<const plexus_view*>(pieces); }
};

/// Copies a frame, but for what its pin keeps alive.
std::unique_ptr<Parcel> copy_of(const Frame& frame, void (*on_end)(Posted*, Status));
/// Wraps bytes that are a frame already.
std::unique_ptr<Parcel> copy_of(wire::View bytes, void (*on_end)(Posted*, Status));

} // namespace plexus::comm
