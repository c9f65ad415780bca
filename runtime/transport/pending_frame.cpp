// SPDX-License-Identifier: BSD-3-Clause
#include "transport/pending_frame.h"

namespace plexus::transport {

namespace {

/// More than a receiver waits for before it acknowledges.
constexpr std::size_t kMostSpare = 512;

bool is_pinned(const Frame& frame) noexcept { return frame.pin != nullptr && frame.count == 2; }
std::size_t bytes_to_copy(const Frame& frame) noexcept {
    return is_pinned(frame) ? frame.pieces[0].size : frame.size;
}
/// What is passed on without a copy keeps memory of this context all the same; else it is the program's.
std::size_t bytes_kept(const Frame& frame) noexcept {
    return frame.onward ? frame.size : bytes_to_copy(frame);
}

} // namespace

void PendingFrame::make_room(const Frame& frame) {
    const std::size_t copied = bytes_to_copy(frame);
    cost_bytes = sizeof(PendingFrame) + bytes_kept(frame);
    if (copied <= kInline) return;
    more = make_buffer(copied);
    if (more == nullptr) throw std::bad_alloc();
}

void PendingFrame::copy(const Frame& frame) noexcept {
    size = frame.size;
    asked.stays = frame.stays;
    const std::size_t head = frame.pieces[0].size;
    const bool pinned = is_pinned(frame);
    const std::size_t copied = bytes_to_copy(frame);
    std::byte* const to = more != nullptr ? more.get() : room;
    std::byte* at = to;
    for (std::uint32_t i = 0; i < (pinned ? 1u : frame.count); ++i) {
        std::memcpy(at, frame.pieces[i].data, frame.pieces[i].size);
        at += frame.pieces[i].size;
    }
    piece[0] = {to, head};
    piece[1] = pinned ? frame.pieces[1] : detail::Piece{to + head, copied - head};
    count = piece[1].size > 0 ? 2 : 1;
    if (pinned) pin = frame.pin;
}

std::size_t PendingFrame::cost_of(const Frame& frame) noexcept {
    return sizeof(PendingFrame) + bytes_kept(frame);
}

PendingFramePtr copy_of(const Frame& frame, void (*on_end)(Completion*, Status)) {
    auto copy = std::make_unique<PendingFrame>(on_end);
    copy->make_room(frame);
    copy->copy(frame);
    return copy;
}

PendingFramePtr copy_of(wire::View bytes, void (*on_end)(Completion*, Status)) {
    return copy_of(WholeFrame(bytes), on_end);
}

PendingFramePtr FramePool::take(void (*on_end)(Completion*, Status)) {
    if (spare_.empty()) return std::make_unique<PendingFrame>(on_end);
    PendingFramePtr frame = std::move(spare_.back());
    spare_.pop_back();
    return frame;
}

void FramePool::release(PendingFramePtr frame, Status status) {
    const bool reusable = frame->holders == 0 && frame->waiter == nullptr && frame->more == nullptr &&
                          frame->pin == nullptr && spare_.size() < kMostSpare;
    if (!reusable) return retire(std::move(frame), status);
    frame->replays = 0;
    frame->asked = {};
    frame->outcome = Status::ok;
    spare_.push_back(std::move(frame));
}

void FramePool::retire(PendingFramePtr frame, Status status) {
    frame->outcome = status;
    if (frame->holders > 0) {
        frame->dropped = true;
        posted_bytes_ += frame->cost();
        frame.release(); // ended() frees it
    } else {
        if (frame->pin != nullptr) pins_.push_back(std::move(frame->pin));
        if (frame->waiter != nullptr) frame->waiter->settle(status);
    }
}

PendingFramePtr FramePool::ended(PendingFrame& frame) noexcept {
    if (frame.holders > 0) --frame.holders;
    if (frame.holders > 0 || !frame.dropped) return nullptr;
    posted_bytes_ -= frame.cost();
    return PendingFramePtr(&frame);
}

} // namespace plexus::transport
