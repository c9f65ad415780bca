// SPDX-License-Identifier: BSD-3-Clause
// The operations through shared memory, and what they have in common: how data is written to slots, in
// which chunks, and where the parts of the members lie.
#pragma once

#include "base/nontemporal_copy.h"
#include "host/collective.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace plexus::eco::host {

/// Size of the pieces in which data is published, so that one piece is read while the next is written. Small
/// pieces for little data, so that reading begins early; large pieces for much data, to save rounds.
constexpr std::size_t chunk_of(std::size_t bytes) noexcept {
    constexpr std::size_t kSmall = std::size_t{16} << 10;
    return bytes < 8 * kSmall ? kSmall : kSlotBytes;
}
/// From this size on data is written past this core's caches.
inline constexpr std::size_t kPastCaches = std::size_t{2} << 10;

inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

/// Copies data into a slot. Reading data that is dirty in another core's caches is several times slower than
/// reading data that has left them, so all but small data is written past the caches.
inline void write_slot(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes < kPastCaches) return copy_bytes(to, from, bytes);
    copy_nontemporal(to, from, bytes);
    fence_nontemporal();
}

/// Calls `what(offset, bytes)` for each piece of at most `chunk` bytes.
template <class Do>
void in_chunks(std::size_t bytes, std::size_t chunk, Do&& what) {
    for (std::size_t at = 0; at < bytes; at += chunk) what(at, std::min(chunk, bytes - at));
}

/// `span + offset`, for access to `bytes` bytes; without any bytes `span` may be null.
template <class Byte>
Byte* into(Byte* span, std::size_t offset, std::size_t bytes) noexcept {
    return bytes > 0 ? span + offset : span;
}

/// The parts of the members in a span, in bytes.
class Blocks {
  public:
    struct Block {
        std::uint64_t begin;
        std::uint64_t size;
    };

    /// Parts of equal size without gaps.
    explicit Blocks(std::size_t each) noexcept
      : each_(each) {}
    /// One part for each member.
    explicit Blocks(std::vector<Block> blocks)
      : blocks_(std::move(blocks)) {
        for (const Block& block : blocks_) each_ = std::max(each_, block.size);
    }
    /// Parts as a caller describes them; equal parts without counts. `elements`: of the whole span.
    Blocks(const Layout& layout, std::size_t elements, const detail::CollectiveArgs& args, Rank members);

    std::size_t begin(Rank member) const { return blocks_.empty() ? member * each_ : blocks_[member].begin; }
    std::size_t size(Rank member) const { return blocks_.empty() ? each_ : blocks_[member].size; }
    std::size_t largest() const noexcept { return each_; }
    /// Bytes of `member`'s part in the chunk of `most` bytes from `at` on.
    std::size_t piece(Rank member, std::size_t at, std::size_t most) const {
        return at < size(member) ? std::min(most, size(member) - at) : 0;
    }
    /// Where these bytes are in the span.
    template <class Byte>
    Byte* place(Byte* span, Rank member, std::size_t at, std::size_t most) const {
        return into(span, begin(member) + at, piece(member, at, most));
    }
    /// Bytes in this chunk of all members before `member`, except `without`.
    std::size_t pieces_before(Rank member, Rank without, std::size_t at, std::size_t most) const {
        if (blocks_.empty()) return (member - (member > without ? 1 : 0)) * piece(0, at, most);
        std::size_t sum = 0;
        for (Rank each = 0; each < member; ++each) sum += each == without ? 0 : piece(each, at, most);
        return sum;
    }
    std::span<const Block> all() const noexcept { return blocks_; }

  private:
    std::size_t each_ = 0; ///< size of each part, or of the largest
    std::vector<Block> blocks_;
};

// Meaning and arguments: plexus/eco/collectives.h. @error as run()

void barrier(SharedArena& arena);
void broadcast(SharedArena& arena, const detail::CollectiveArgs& args);
void scatter(SharedArena& arena, const detail::CollectiveArgs& args);
void gather(SharedArena& arena, const detail::CollectiveArgs& args);
void all_gather(SharedArena& arena, const detail::CollectiveArgs& args);
void all_to_all(SharedArena& arena, const detail::CollectiveArgs& args);

/// reduce, and all_reduce if `to_all`.
void reduce(SharedArena& arena, const detail::CollectiveArgs& args, bool to_all);
void reduce_scatter(SharedArena& arena, const detail::CollectiveArgs& args);
/// scan, or exclusive_scan.
void scan(SharedArena& arena, const detail::CollectiveArgs& args, bool exclusive);

} // namespace plexus::eco::host
