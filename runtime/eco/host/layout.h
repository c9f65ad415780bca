// SPDX-License-Identifier: BSD-3-Clause
// What the members of a group on one host see of each other in their common memory: the shape
// of its pages, and nothing else. Members are of one job and hold its key; even so nobody takes
// a place in these pages from them: whoever reads computes it. Lengths that only two members know are
// told here, compared with what is expected, and cut to what a slot holds; so are addresses and places
// in the teller's own memory, for whoever reads that by one copy.
//
//   [Head] [Corner of member 0] [Corner of member 1] ... [slots of member 0] [slots of member 1] ...
//
// Members go through rounds, all the same ones. What a member gives in a round is in its post of
// that round: up to kInline bytes in the post itself, more in a slot of the same number: its own,
// or, where it is the only giver, that of each member in turn.
//
// Slots are many on purpose. A core reads what has left the writer's caches several times faster
// than what is dirty there, and one writes faster where no reader's cache holds the old bytes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plexus::eco::host {

inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint32_t kMostMembers = 64;
/// A member may be so many rounds ahead of whoever has to read what it gave.
inline constexpr std::uint32_t kPosts = 32;
inline constexpr std::size_t kInline = 48;
inline constexpr std::size_t kSlot = std::size_t{64} << 10;
/// From one slot to the next: they begin at different places in their pages, for a copy between two
/// places that are alike there is slow.
inline constexpr std::size_t kStride = kSlot + 9 * kLine;

using Cookie = std::array<std::uint8_t, 16>;

/// What a member shows of its process, for those who may read its memory by one copy.
struct Process {
    std::uint64_t id;
    std::uint64_t cookie_address;
    Cookie cookie; ///< is there
};

struct Head {
    Cookie cookie; ///< random: whoever opens the memory knows it before
    /// Members that sleep on `bell`, which is rung for whatever any of them may wait for.
    alignas(kLine) std::atomic<std::uint32_t> sleepers;
    std::atomic<std::uint32_t> bell;
};

/// One member's gift of one round, in one cache line with the word that says it is there.
struct alignas(kLine) Post {
    /// [post] stored last: whoever reads it sees the rest, and the slot.
    std::atomic<std::uint64_t> round;
    std::atomic<std::uint64_t> check; ///< of the call, and all before it
    std::byte data[kInline];
};

struct Corner {
    Post posts[kPosts];
    /// [done] rounds that this member is through with: it reads nothing of them any more.
    alignas(kLine) std::atomic<std::uint64_t> done;
    Process process; ///< written before the first round
};

static_assert(sizeof(Post) == kLine && sizeof(Head) <= kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

constexpr std::size_t slots_at(std::uint32_t members) noexcept {
    return (kPage + members * sizeof(Corner) + kPage - 1) / kPage * kPage;
}
constexpr std::size_t segment_bytes(std::uint32_t members) noexcept {
    return slots_at(members) + std::size_t{members} * kPosts * kStride;
}

} // namespace plexus::eco::host
