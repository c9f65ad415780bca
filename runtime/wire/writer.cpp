// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/archive.h"

#include "plexus/error.h"

namespace plexus::detail {

void Writer::spill(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    total_ += size;
    if (pieces_ == 0) { // fill the head first, so that it ends at a multiple of eight
        const std::size_t fits = kHead - used_;
        std::memcpy(head_ + used_, bytes, fits);
        used_ = kHead;
        bytes += fits;
        size -= fits;
    }
    if (size == 0) return;
    if (pieces_ == 0 || piece_[pieces_ - 1].data != nullptr) piece_[pieces_++] = {nullptr, 0};
    spill_.insert(spill_.end(), bytes, bytes + size);
    piece_[pieces_ - 1].size += size;
}

void Writer::borrow(const void* data, std::size_t size) {
    // The last two places are kept for what may follow: a spill, and nothing more.
    if (pieces_ + 2 >= kPieces) {
        spill(data, size);
        return;
    }
    piece_[pieces_++] = {data, size};
    total_ += size;
}

void Writer::own() {
    std::vector<std::byte> whole;
    whole.reserve(total_ - used_);
    std::size_t spilled = 0;
    for (std::uint32_t i = 0; i < pieces_; ++i) {
        const bool own = piece_[i].data == nullptr;
        const std::byte* from = own ? spill_.data() + spilled : static_cast<const std::byte*>(piece_[i].data);
        if (own) spilled += piece_[i].size;
        whole.insert(whole.end(), from, from + piece_[i].size);
    }
    spill_ = std::move(whole);
    if (pieces_ > 0) piece_[0] = {nullptr, spill_.size()};
    pieces_ = pieces_ > 0 ? 1 : 0;
}

std::uint32_t Writer::finish(Piece* out) const noexcept {
    out[0] = {head_, used_};
    std::size_t spilled = 0;
    for (std::uint32_t i = 0; i < pieces_; ++i) {
        out[i + 1] = piece_[i];
        if (piece_[i].data == nullptr) {
            out[i + 1].data = spill_.data() + spilled;
            spilled += piece_[i].size;
        }
    }
    return pieces_ + 1;
}

std::vector<std::byte> Writer::bytes() const {
    Piece pieces[kPieces + 1];
    const std::uint32_t count = finish(pieces);
    std::vector<std::byte> whole;
    whole.reserve(total_);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto* from = static_cast<const std::byte*>(pieces[i].data);
        whole.insert(whole.end(), from, from + pieces[i].size);
    }
    return whole;
}

void Level::refuse() {
    throw Error(Status::bad_argument,
                "a value holds others more than " + std::to_string(kMostLevels) +
                    " levels deep: send a long list or a deep tree as a std::vector of its "
                    "nodes");
}

} // namespace plexus::detail
