// SPDX-License-Identifier: BSD-3-Clause
#include "host/collective.h"

#include "plexus/past_caches.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace plexus::eco::host {
namespace {

/// What one reads while the other writes the next: small enough to overlap early, large enough
/// that a round's price does not show.
constexpr std::size_t kChunk = std::size_t{16} << 10;
/// What is copied past this core's caches.
constexpr std::size_t kPastCaches = std::size_t{2} << 10;
/// Parts from this size on, and those that do not fit one gift, are read out of the other members'
/// memory where the kernel permits it.
constexpr std::size_t kFetchFrom = std::size_t{128} << 10;
/// Up to so many bytes of all members together everyone combines all of them; more are shared out.
constexpr std::size_t kEveryoneCombines = std::size_t{16} << 10;

void put(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

/// Into a gift. A core reads what is dirty in another's caches several times more slowly than what
/// has left them, so more than a little goes past them.
void give(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes < kPastCaches) return put(to, from, bytes);
    copy_past_caches(to, from, bytes);
    flush_past_caches();
}

/// Calls `what(offset, bytes)` for each part of at most `chunk` bytes.
template <class Do>
void in_chunks(std::size_t bytes, std::size_t chunk, Do&& what) {
    for (std::size_t at = 0; at < bytes; at += chunk) what(at, std::min(chunk, bytes - at));
}

void barrier(Seat& seat) {
    seat.room(0);
    seat.post();
    if (!seat.crowded()) {
        for (Rank member = 0; member < seat.members(); ++member) seat.await(member, 0);
        return seat.next(true);
    }
    // Where members share processors each would have to look at all others after the last has come.
    // So one does, and is the first to go on: roots are more often 0 than not.
    for (Rank member = 0; seat.me() == 0 && member < seat.members(); ++member) seat.await(member, 0);
    seat.next(true);
    if (seat.me() == 0) {
        seat.room(0);
        seat.post();
    } else {
        seat.await(0, 0);
    }
    seat.next();
}

void broadcast(Seat& seat, const detail::Work& work) {
    const std::size_t all = work.receive_elements * work.element_bytes;
    in_chunks(all, all < 8 * kChunk ? kChunk : kSlot, [&](std::size_t at, std::size_t bytes) {
        if (seat.me() == work.root) {
            give(seat.only_room(bytes), work.receive + at, bytes);
            seat.post();
        } else {
            std::memcpy(work.receive + at, seat.await_only(work.root, bytes), bytes);
        }
        seat.next();
    });
}

/// Each member reads what is for it out of the others' memory: one copy instead of two, for a call of
/// the system. Who works in place, which the others do not know, copies what they read first.
void all_to_all_fetching(Seat& seat, const detail::Work& work) {
    const std::size_t each = work.send_elements / seat.members() * work.element_bytes;
    std::vector<std::byte> copy;
    if (work.send == work.receive) copy.assign(work.send, work.send + each * seat.members());
    const std::byte* const from = copy.empty() ? work.send : copy.data();
    const auto mine = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(from));
    std::memcpy(seat.room(sizeof mine), &mine, sizeof mine);
    seat.post();
    for (Rank step = 1; step < seat.members(); ++step) { // not all of them from the same one at a time
        const Rank member = (seat.me() + step) % seat.members();
        std::uint64_t there = 0;
        std::memcpy(&there, seat.await(member, sizeof there), sizeof there);
        seat.fetch(member, there + seat.me() * each, work.receive + member * each, each);
    }
    seat.next(true);
    barrier(seat); // nobody's memory is read any more
}

/// The contributions of all members in this round, `bytes` of each from `from` on, combined into
/// `into`, which is no part of them. This member's own is read where it comes from, `own`.
void fold(Seat& seat, const detail::Work& work, std::byte* into, const std::byte* own, std::size_t whole,
          std::size_t from, std::size_t bytes) {
    if (bytes == 0) return;
    const detail::Combine& combine = work.combine;
    const auto part_of = [&](Rank member) {
        return (member == seat.me() ? own : seat.await(member, whole)) + from;
    };
    const std::byte* left = part_of(0);
    for (Rank member = 1; member < seat.members(); ++member) {
        combine.run(combine.op.get(), into, left, part_of(member), bytes / work.element_bytes);
        left = into;
    }
}

/// reduce, where only the root wants the outcome, and all_reduce.
void reduce(Seat& seat, const detail::Work& work, bool to_all) {
    const Rank members = seat.members();
    const bool wants = to_all || seat.me() == work.root;
    const std::size_t all = work.send_elements * work.element_bytes;
    if (all * members <= kEveryoneCombines) {
        if (all == 0) return;
        give(seat.room(all), work.send, all);
        seat.post();
        if (wants) {
            std::byte* const sum = work.send == work.receive ? seat.scratch() : work.receive;
            fold(seat, work, sum, work.send, all, 0, all);
            put(work.receive, sum, all);
        }
        return seat.next(to_all);
    }
    // Of each chunk every member combines a share, and gives it to those who want it.
    const std::size_t each = std::max<std::size_t>(1, kSlot / work.element_bytes / members);
    in_chunks(all, each * members * work.element_bytes, [&](std::size_t at, std::size_t bytes) {
        const std::size_t elements = bytes / work.element_bytes;
        const auto begin_of = [&](Rank member) { return elements * member / members * work.element_bytes; };
        const auto size_of = [&](Rank member) { return begin_of(member + 1) - begin_of(member); };
        const std::size_t before = begin_of(seat.me());
        const std::size_t mine = size_of(seat.me());
        std::byte* const to = seat.room(bytes);
        give(to, work.send + at, before); // its own share nobody else reads
        give(to + before + mine, work.send + at + before + mine, bytes - before - mine);
        seat.post();
        for (Rank member = 0; member < members; ++member) seat.await(member, bytes);
        fold(seat, work, seat.scratch(), work.send + at, bytes, before, mine);
        give(seat.room(mine, 1), seat.scratch(), mine);
        seat.next(true);
        seat.post();
        for (Rank member = 0; wants && member < members; ++member)
            put(work.receive + at + begin_of(member),
                member == seat.me() ? seat.scratch() : seat.await(member, size_of(member)), size_of(member));
        seat.next(to_all);
    });
}

void all_gather(Seat& seat, const detail::Work& work) {
    const Rank members = seat.members();
    const std::size_t even = work.receive_elements / members;
    std::vector<std::size_t> begins(members);
    std::vector<std::size_t> sizes(members);
    std::size_t next = 0;
    for (Rank member = 0; member < members; ++member) {
        const Parts& parts = work.receive_parts;
        sizes[member] = (parts.counts.empty() ? even : parts.counts[member]) * work.element_bytes;
        begins[member] = parts.places.empty() ? next : parts.places[member] * work.element_bytes;
        next += sizes[member];
    }
    std::byte* const own = work.receive + begins[seat.me()];
    if (!work.in_place) put(own, work.send, sizes[seat.me()]);
    in_chunks(*std::max_element(sizes.begin(), sizes.end()), kSlot, [&](std::size_t at, std::size_t most) {
        const auto size_of = [&](Rank member) {
            return at < sizes[member] ? std::min(most, sizes[member] - at) : 0;
        };
        give(seat.room(size_of(seat.me())), own + at, size_of(seat.me()));
        seat.post();
        for (Rank member = 0; member < members; ++member) {
            const std::byte* const from = seat.await(member, size_of(member));
            if (member != seat.me()) put(work.receive + begins[member] + at, from, size_of(member));
        }
        seat.next(true);
    });
}

/// A gift has a part for each other member, in the order of ranks.
void all_to_all(Seat& seat, const detail::Work& work) {
    const Rank members = seat.members();
    const Rank me = seat.me();
    const std::size_t each = work.send_elements / members * work.element_bytes;
    put(work.receive + me * each, work.send + me * each, each);
    const bool large = each >= kFetchFrom || each * (members - 1) > kSlot;
    if (large && seat.may_fetch()) return all_to_all_fetching(seat, work);
    in_chunks(each, kSlot / (members - 1) / kLine * kLine, [&](std::size_t at, std::size_t bytes) {
        std::byte* to = seat.room((members - 1) * bytes);
        for (Rank member = 0; member < members; ++member) {
            if (member == me) continue;
            give(to, work.send + member * each + at, bytes);
            to += bytes;
        }
        seat.post(); // what is overwritten in place from here on is in there
        for (Rank member = 0; member < members; ++member) {
            const std::byte* const from = seat.await(member, (members - 1) * bytes);
            if (member != me)
                put(work.receive + member * each + at, from + (me - (me > member ? 1 : 0)) * bytes, bytes);
        }
        seat.next(true);
    });
}

} // namespace

bool suits(const detail::Work& work, Rank members) noexcept {
    if (members < 2) return false;
    switch (work.operation) {
    case Operation::barrier:
    case Operation::broadcast:
    case Operation::all_gather:
        return true;
    case Operation::reduce:
    case Operation::all_reduce:
        return std::size_t{members} * work.element_bytes <= kSlot; // two at least
    case Operation::all_to_all:
        return !work.varied;
    default:
        return false;
    }
}

void run(Seat& seat, const detail::Work& work) {
    switch (work.operation) {
    case Operation::barrier:
        return barrier(seat);
    case Operation::broadcast:
        return broadcast(seat, work);
    case Operation::all_gather:
        return all_gather(seat, work);
    case Operation::reduce:
        return reduce(seat, work, false);
    case Operation::all_reduce:
        return reduce(seat, work, true);
    case Operation::all_to_all:
        return all_to_all(seat, work);
    default:
        return; // suits() has said so
    }
}

} // namespace plexus::eco::host
