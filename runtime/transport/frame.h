// SPDX-License-Identifier: BSD-3-Clause
// A frame as its sender has it: pieces in the sender's memory.
#pragma once

#include "method/boundary.h"
#include "plexus/archive.h"
#include "plexus/module/abi.h"
#include "wire/frame.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

namespace plexus::transport {

static_assert(sizeof(detail::Piece) == sizeof(plexus_view), "pieces are handed to modules as they are");

struct Frame {
    const detail::Piece* pieces = nullptr;
    std::uint32_t count = 0;
    std::size_t size = 0;
    std::byte* head = nullptr; ///< piece 0, to set a flag in
    /// What the far side must know before; null: nothing.
    const wire::Declare* declare = nullptr;
    std::span<const detail::Route* const> carried{};
    /// Until then its sender may wait for room; then timed_out. A frame with a limit is never borrowed:
    /// its sender could not leave.
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    /// Keeps pieces 1… alive without a copy if the caller can't wait; null: they are copied.
    std::shared_ptr<const void> pin{};
    /// A short answer that a full queue takes all the same, from a reserve of its own.
    bool from_reserve = false;
    /// Belongs to a link that leads through other contexts: leaves also while this one closes.
    bool onward = false;
    /// Belongs to a pointer that forbids fallback: never moves to another method.
    bool stays = false;
    /// The boundary of its pointer, while the peer has not said where it is: waits for that, then its sender
    /// chooses again. The sender's own; null: none.
    const method::Boundary* within = nullptr;

    const plexus_view* views() const noexcept { return reinterpret_cast<const plexus_view*>(pieces); }
    bool limited() const noexcept { return deadline != std::chrono::steady_clock::time_point::max(); }
};

/// An answer that the peer waits for.
inline bool is_answer(wire::View head) {
    const auto kind = wire::kind_of(head);
    return kind == wire::Kind::reply || kind == wire::Kind::data || kind == wire::Kind::lease;
}
/// Says that a one-way request was refused.
inline bool is_report(wire::View head) noexcept { return wire::kind_of(head) == wire::Kind::report; }

/// One contiguous encoded frame.
struct WholeFrame : Frame {
    explicit WholeFrame(wire::View bytes) noexcept
      : two_{{bytes.data(), std::min<std::size_t>(bytes.size(), PLEXUS_HEAD_MAX)}, {}} {
        two_[1] = {bytes.data() + two_[0].size, bytes.size() - two_[0].size};
        pieces = two_;
        count = two_[1].size > 0 ? 2 : 1;
        size = bytes.size();
    }
    WholeFrame(const WholeFrame&) = delete;
    WholeFrame& operator=(const WholeFrame&) = delete;

  private:
    detail::Piece two_[2];
};

} // namespace plexus::transport
