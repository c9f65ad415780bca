// SPDX-License-Identifier: BSD-3-Clause
#include "shm/stream.h"

#include "base/nontemporal_copy.h"

#include <algorithm>
#include <cstring>

namespace plexus::shm {

namespace {
constexpr std::uint64_t kMostChunk = 1 << 20; // bytes, about 50 us

std::uint64_t chunk_bytes(std::uint64_t area) { return std::min(area / 32, kMostChunk); }
} // namespace

void Stream::begin(const Message& message, Copy copy, std::uint32_t sample, Clock::time_point start) {
    pieces_.assign(message.pieces + 1, message.pieces + message.count);
    piece_ = offset_ = 0;
    left_.store(message.rest(), std::memory_order_relaxed);
    token_ = message.token;
    size_ = message.size;
    copy_ = copy;
    start_ = start;
    sample_ = sample;
    copying_ = {};
}

Stream::Go Stream::go_on(RecordWriter& records, OutgoingArea& area) {
    const std::uint64_t chunk = chunk_bytes(area.size());
    for (std::uint64_t budget = kMostChunk;; budget -= chunk) {
        const std::uint64_t rest = left();
        if (rest == 0) {
            pieces_ = {};
            return Go::done;
        }
        if (budget < chunk) {
            stuck_at_ = kNotStuck;
            return Go::more;
        }
        const std::uint64_t size = std::min(rest, chunk);
        if (!send_chunk(size, records, area)) {
            out_->waiting.store(1, std::memory_order_seq_cst); // pairs with Receiver::made_room
            stuck_at_ = progress();
            if (!send_chunk(size, records, area)) return Go::stuck;
            stuck_at_ = kNotStuck;
        }
        left_.store(rest - size, std::memory_order_relaxed);
    }
}

void Stream::drop() noexcept {
    pieces_ = {};
    left_.store(0, std::memory_order_relaxed);
}

bool Stream::send_chunk(std::uint64_t size, RecordWriter& records, OutgoingArea& area) {
    std::byte* const body = records.reserve(sizeof(AreaBody));
    if (body == nullptr) return false;
    const auto part = area.take(size);
    if (!part) return false;
    Clock::time_point before;
    if (sample_ != 0) before = Clock::now();
    copy_next(area.parts().at(*part), size);
    if (sample_ != 0) copying_ += Clock::now() - before;
    std::memcpy(body, &*part, sizeof *part);
    records.publish(Kind::chunk, sizeof *part);
    return true;
}

void Stream::copy_next(std::byte* to, std::uint64_t size) {
    while (size > 0) {
        const plexus_view& piece = pieces_[piece_];
        const std::uint64_t part = std::min<std::uint64_t>(size, piece.size - offset_);
        const std::byte* const from = static_cast<const std::byte*>(piece.data) + offset_;
        if (copy_ == Copy::nontemporal)
            copy_nontemporal(to, from, part);
        else if (part > 0)
            std::memcpy(to, from, part);
        to += part;
        size -= part;
        offset_ += part;
        if (offset_ == piece.size) {
            ++piece_;
            offset_ = 0;
        }
    }
    if (copy_ == Copy::nontemporal) fence_nontemporal();
}

// Grows whenever the peer has taken something.
std::uint64_t Stream::progress() const noexcept {
    return out_->consumed.load(std::memory_order_seq_cst) + out_->released.load(std::memory_order_seq_cst);
}

} // namespace plexus::shm
