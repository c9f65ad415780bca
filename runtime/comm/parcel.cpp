// SPDX-License-Identifier: BSD-3-Clause
#include "comm/parcel.h"

namespace plexus::comm {

std::unique_ptr<Parcel> copy_of(const Frame& frame, void (*on_end)(Posted*, Status)) {
    auto parcel = std::make_unique<Parcel>(on_end);
    parcel->size = frame.size;
    const std::size_t head = frame.pieces[0].size;
    const bool pinned = frame.pin != nullptr && frame.count == 2;
    const std::size_t copied = pinned ? head : frame.size;
    std::byte* to = parcel->room;
    if (copied > Parcel::kInline) {
        parcel->more = make_buffer(copied);
        if (parcel->more == nullptr) throw std::bad_alloc();
        to = parcel->more.get();
    }
    std::byte* at = to;
    for (std::uint32_t i = 0; i < (pinned ? 1u : frame.count); ++i) {
        std::memcpy(at, frame.pieces[i].data, frame.pieces[i].size);
        at += frame.pieces[i].size;
    }
    parcel->piece[0] = {to, head};
    parcel->piece[1] = pinned ? frame.pieces[1] : detail::Piece{to + head, copied - head};
    parcel->count = parcel->piece[1].size > 0 ? 2 : 1;
    if (pinned) parcel->pin = frame.pin;
    return parcel;
}

std::unique_ptr<Parcel> copy_of(wire::View bytes, void (*on_end)(Posted*, Status)) {
    const std::size_t head = std::min<std::size_t>(bytes.size(), PLEXUS_HEAD_MAX);
    const detail::Piece pieces[2]{{bytes.data(), head}, {bytes.data() + head, bytes.size() - head}};
    Frame frame;
    frame.pieces = pieces;
    frame.count = pieces[1].size > 0 ? 2 : 1;
    frame.size = bytes.size();
    return copy_of(frame, on_end);
}

} // namespace plexus::comm
