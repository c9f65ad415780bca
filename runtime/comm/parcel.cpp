// SPDX-License-Identifier: BSD-3-Clause
#include "comm/parcel.h"

namespace plexus::comm {

namespace {

bool is_pinned(const Frame& frame) noexcept { return frame.pin != nullptr && frame.count == 2; }
std::size_t bytes_to_copy(const Frame& frame) noexcept {
    return is_pinned(frame) ? frame.pieces[0].size : frame.size;
}

} // namespace

void Parcel::make_room(const Frame& frame) {
    const std::size_t copied = bytes_to_copy(frame);
    if (copied <= kInline) return;
    more = make_buffer(copied);
    if (more == nullptr) throw std::bad_alloc();
}

void Parcel::copy(const Frame& frame) noexcept {
    size = frame.size;
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

std::unique_ptr<Parcel> copy_of(const Frame& frame, void (*on_end)(Posted*, Status)) {
    auto parcel = std::make_unique<Parcel>(on_end);
    parcel->make_room(frame);
    parcel->copy(frame);
    return parcel;
}

std::unique_ptr<Parcel> copy_of(wire::View bytes, void (*on_end)(Posted*, Status)) {
    return copy_of(WholeFrame(bytes), on_end);
}

} // namespace plexus::comm
