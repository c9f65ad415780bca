// SPDX-License-Identifier: BSD-3-Clause
// The operations in common memory, one by one, with what they share: how bytes get into a gift
// and in which pieces, and where the parts of members lie.
#pragma once

#include "host/collective.h"
#include "plexus/past_caches.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace plexus::eco::host {

/// What one reads while the other writes the next: of a few pieces each is small, so that they overlap
/// early, and of many large enough that a round's price does not show.
constexpr std::size_t chunk_of(std::size_t bytes) noexcept {
    constexpr std::size_t kSmall = std::size_t{16} << 10;
    return bytes < 8 * kSmall ? kSmall : kSlot;
}
/// What is copied past this core's caches.
inline constexpr std::size_t kPastCaches = std::size_t{2} << 10;

inline void put(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

/// Into a gift. A core reads what is dirty in another's caches several times more slowly than what
/// has left them, so more than a little goes past them.
inline void give(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes < kPastCaches) return put(to, from, bytes);
    copy_past_caches(to, from, bytes);
    flush_past_caches();
}

/// Calls `what(offset, bytes)` for each piece of at most `chunk` bytes.
template <class Do>
void in_chunks(std::size_t bytes, std::size_t chunk, Do&& what) {
    for (std::size_t at = 0; at < bytes; at += chunk) what(at, std::min(chunk, bytes - at));
}

/// The place `offset` bytes into a span, for `bytes` of it; a span without any may be nowhere.
template <class Byte>
Byte* into(Byte* span, std::size_t offset, std::size_t bytes) noexcept {
    return bytes > 0 ? span + offset : span;
}

/// The parts of members in a span, in bytes.
class Blocks {
  public:
    struct Block {
        std::uint64_t begin;
        std::uint64_t size;
    };

    /// One behind the other, and alike.
    explicit Blocks(std::size_t each) noexcept
      : each_(each) {}
    /// One for each member.
    explicit Blocks(std::vector<Block> blocks)
      : blocks_(std::move(blocks)) {
        for (const Block& block : blocks_) each_ = std::max(each_, block.size);
    }
    /// As a caller says it: without counts they are alike. `elements`: of the whole span.
    Blocks(const Parts& parts, std::size_t elements, const detail::Work& work, Rank members);

    std::size_t begin(Rank member) const { return blocks_.empty() ? member * each_ : blocks_[member].begin; }
    std::size_t size(Rank member) const { return blocks_.empty() ? each_ : blocks_[member].size; }
    std::size_t largest() const noexcept { return each_; }
    /// Of a piece of `most` bytes from `at` on in each of them: what `member`'s has.
    std::size_t piece(Rank member, std::size_t at, std::size_t most) const {
        return at < size(member) ? std::min(most, size(member) - at) : 0;
    }
    /// Where that is in the span.
    template <class Byte>
    Byte* place(Byte* span, Rank member, std::size_t at, std::size_t most) const {
        return into(span, begin(member) + at, piece(member, at, most));
    }
    /// What those of the members before `member` have together, but for that of `without`.
    std::size_t pieces_before(Rank member, Rank without, std::size_t at, std::size_t most) const {
        if (blocks_.empty()) return (member - (member > without ? 1 : 0)) * piece(0, at, most);
        std::size_t sum = 0;
        for (Rank each = 0; each < member; ++each) sum += each == without ? 0 : piece(each, at, most);
        return sum;
    }
    std::span<const Block> all() const noexcept { return blocks_; }

  private:
    std::size_t each_ = 0; ///< or the largest
    std::vector<Block> blocks_;
};

// What each means, and its spans: plexus/eco/collectives.h. @error as run()

void barrier(Seat& seat);
void broadcast(Seat& seat, const detail::Work& work);
void scatter(Seat& seat, const detail::Work& work);
void gather(Seat& seat, const detail::Work& work);
void all_gather(Seat& seat, const detail::Work& work);
void all_to_all(Seat& seat, const detail::Work& work);

/// reduce, where only the root wants the outcome, and all_reduce.
void reduce(Seat& seat, const detail::Work& work, bool to_all);
void reduce_scatter(Seat& seat, const detail::Work& work);
/// scan, and exclusive_scan.
void scan(Seat& seat, const detail::Work& work, bool exclusive);

} // namespace plexus::eco::host
