// SPDX-License-Identifier: BSD-3-Clause
// Layout of the memory that the members of a group on one host share. Members belong to one job and hold
// its key. Even so no member takes an offset from the shared pages: the reader computes it. Lengths that
// only two members know (v forms) are published here, compared with what the receiver expects, and limited
// to the size of a slot. Addresses that a member publishes are addresses in its own process: the reader
// passes them to the kernel and never dereferences them.
//
//   [ArenaHeader] [MemberPage of member 0] [MemberPage of member 1] ... [slots of member 0] [slots of member
//   1] ...
//
// Members go through the same sequence of rounds. The data that a member publishes in a round is in the
// slot of that round: up to kInline bytes in the slot's header, larger data in the slot itself. If only
// one member publishes in a round, it uses the slots of the first kMostOwners members in turn.
//
// There are many slots for a reason: a core reads data that has left the writer's caches several times
// faster than data that is dirty there, and a core writes faster if no reader's cache holds the old data.
#pragma once

#include "base/process_memory.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plexus::eco::host {

inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kPage = 4096;
/// Enough for the processors of a large host. A slot must have room for a part of each other member, of whole
/// lines, and for the length and place of each part (v forms).
inline constexpr std::uint32_t kMostMembers = 512;
/// Members whose slots a single publisher uses in turn: enough that no cache still has old data, and few
/// enough that a group of many members does not touch the slots of all.
inline constexpr std::uint32_t kMostOwners = 8;
/// Slots of each member: a member may be so many rounds ahead of those that read its data.
inline constexpr std::uint32_t kSlots = 32;
inline constexpr std::size_t kInline = 48;
inline constexpr std::size_t kSlotBytes = std::size_t{64} << 10;
/// Distance of two slots. Consecutive slots begin at different offsets in their pages, because a copy
/// between two addresses with the same offset is slow.
inline constexpr std::size_t kSlotStride = kSlotBytes + 9 * kLine;

/// Identifies a member's process to members that may read its memory directly.
struct Process {
    std::uint64_t id;
    std::uint64_t cookie_address; ///< in that process
    Cookie cookie;                ///< what must be read there
};

struct ArenaHeader {
    Cookie cookie; ///< random: identifies the memory to members that open it
    /// Members that sleep on `wakeups`, which is incremented for every event that a member may wait for.
    alignas(kLine) std::atomic<std::uint32_t> sleepers;
    std::atomic<std::uint32_t> wakeups;
};

/// State of a slot, with small data in the same cache line.
struct alignas(kLine) SlotHeader {
    /// [published] stored last: a reader that sees the round also sees the digest, the inline data and the
    /// slot.
    std::atomic<std::uint64_t> round;
    std::atomic<std::uint64_t> digest; ///< of the current call and all calls before it
    std::byte data[kInline];
};

struct MemberPage {
    SlotHeader slots[kSlots];
    /// [done] the last round whose data this member will not read any more.
    alignas(kLine) std::atomic<std::uint64_t> done;
    Process process; ///< written before the first round
};

static_assert(kSlotBytes / (kMostMembers - 1) >= kLine &&
              kMostMembers * 2 * sizeof(std::uint64_t) <= kSlotBytes);
static_assert(sizeof(SlotHeader) == kLine && sizeof(ArenaHeader) <= kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

constexpr std::size_t slots_offset(std::uint32_t members) noexcept {
    return (kPage + members * sizeof(MemberPage) + kPage - 1) / kPage * kPage;
}
constexpr std::size_t arena_bytes(std::uint32_t members) noexcept {
    return slots_offset(members) + std::size_t{members} * kSlots * kSlotStride;
}

} // namespace plexus::eco::host
