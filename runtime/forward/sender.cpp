// SPDX-License-Identifier: BSD-3-Clause
#include "forward/sender.h"

#include <algorithm>
#include <new>
#include <span>

namespace plexus::forward {
namespace {

constexpr std::uint64_t kMostCopied = 256 * 1024;
constexpr std::size_t kMostPosted = 4;

} // namespace

bool Sender::full() const {
    return queued_.load(std::memory_order_relaxed) >= kMostCopied || posted_ >= kMostPosted;
}

std::int32_t Sender::offer(const plexus_view* pieces, std::uint32_t count, void* token) {
    Message message;
    message.head = count > 0 ? std::min<std::size_t>(pieces[0].size, PLEXUS_HEAD_MAX) : 0;
    for (const plexus_view& piece : std::span(pieces, count)) message.size += piece.size;
    const bool posts = message.size > kEager;
    Lock hold(mutex_);
    if (over_) return PLEXUS_LINK_LOST;
    // Large messages are not counted as queued bytes, but in number.
    if (full()) {
        starved_ = true;
        return PLEXUS_AGAIN;
    }
    try {
        if (posts) {
            message.pieces.assign(pieces, pieces + count);
            message.token = token;
        } else {
            wire::Builder out(message.copy);
            message.copy.reserve(message.size);
            for (const plexus_view& piece : std::span(pieces, count)) out.raw(piece.data, piece.size);
        }
        messages_.push_back(std::move(message));
    } catch (const std::bad_alloc&) { return PLEXUS_MESSAGE_LOST; }
    if (posts)
        ++posted_;
    else
        queued_.fetch_add(messages_.back().size + 1, std::memory_order_relaxed); // an empty one counts, too
    return posts ? PLEXUS_POSTED : PLEXUS_OK;
}

bool Sender::waits() const {
    Lock hold(mutex_);
    return !messages_.empty();
}

bool Sender::credit(std::uint64_t bytes) noexcept {
    if (bytes > under_way_) return false;
    under_way_ -= bytes;
    return true;
}

bool Sender::next(Piece& piece) {
    const Message* message = nullptr;
    {
        Lock hold(mutex_);
        if (messages_.empty()) return false;
        message = &messages_.front(); // stays there: others only add behind it
    }
    const std::size_t size = std::min(piece_by(window_), message->size - sent_);
    if (under_way_ + size + kHopCost > window_) return false;
    piece.hop.kind = sent_ == 0 ? Kind::data : Kind::more;
    piece.hop.number = sent_ == 0 ? sizes(message->head, message->size) : 0;
    piece.hop.bytes = bytes_of(*message, sent_, size);
    piece.last = sent_ + size == message->size;
    piece.posted = !message->pieces.empty();
    piece.token = message->token;
    return true;
}

// Where they lie, if they lie together.
wire::View Sender::bytes_of(const Message& message, std::size_t from, std::size_t size) {
    if (message.pieces.empty()) return wire::View(message.copy).subspan(from, size);
    gathered_.clear();
    for (const plexus_view& piece : message.pieces) {
        if (from >= piece.size) {
            from -= piece.size;
            continue;
        }
        const auto* const start = static_cast<const std::byte*>(piece.data) + from;
        const std::size_t here = std::min(size - gathered_.size(), piece.size - from);
        if (gathered_.empty() && here == size) return {start, size};
        gathered_.insert(gathered_.end(), start, start + here);
        if (gathered_.size() == size) break;
        from = 0;
    }
    return gathered_;
}

void Sender::taken(const Piece& piece) {
    under_way_ += piece.hop.bytes.size() + kHopCost;
    sent_ += piece.hop.bytes.size();
    if (!piece.last) return;
    sent_ = 0;
    Message over; // ends outside of the lock
    Lock hold(mutex_);
    std::swap(over, messages_.front());
    messages_.pop_front();
    if (piece.posted)
        --posted_;
    else
        queued_.fetch_sub(over.size + 1, std::memory_order_relaxed);
}

bool Sender::owes_writable() {
    Lock hold(mutex_);
    if (!starved_ || full()) return false;
    starved_ = false;
    return true;
}

std::vector<void*> Sender::abandon() {
    std::vector<void*> tokens;
    Lock hold(mutex_);
    over_ = true;
    for (const Message& message : messages_)
        if (!message.pieces.empty()) tokens.push_back(message.token);
    messages_.clear();
    queued_.store(0, std::memory_order_relaxed);
    return tokens;
}

} // namespace plexus::forward
