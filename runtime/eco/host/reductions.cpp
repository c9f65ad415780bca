// SPDX-License-Identifier: BSD-3-Clause
// Operations that combine what members contribute.
#include "host/operations.h"

namespace plexus::eco::host {
namespace {

/// Up to so many bytes of all members together everyone combines all of them; more are shared out.
constexpr std::size_t kEveryoneCombines = std::size_t{16} << 10;

/// What the first `members` members contribute in this round, in gifts of `whole` bytes: `bytes` of each
/// from `from` on, combined into `into`, which is no part of them. This member's own is read at `own`.
void fold(Seat& seat, const detail::Work& work, Rank members, std::byte* into, const std::byte* own,
          std::size_t whole, std::size_t from, std::size_t bytes) {
    if (bytes == 0) return;
    const detail::Combine& combine = work.combine;
    const auto part_of = [&](Rank member) {
        return member == seat.me() ? own : seat.await(member, whole) + from;
    };
    const std::byte* left = part_of(0);
    for (Rank member = 1; member < members; ++member) {
        combine.run(combine.op.get(), into, left, part_of(member), bytes / work.element_bytes);
        left = into;
    }
    put(into, left, bytes); // of one alone
}

} // namespace

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
            fold(seat, work, members, sum, work.send, all, 0, all);
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
        fold(seat, work, members, seat.scratch(), work.send + at + before, bytes, before, mine);
        give(seat.room(mine, 1), seat.scratch(), mine);
        seat.next(true);
        seat.post();
        for (Rank member = 0; wants && member < members; ++member)
            put(work.receive + at + begin_of(member),
                member == seat.me() ? seat.scratch() : seat.await(member, size_of(member)), size_of(member));
        seat.next(to_all);
    });
}

/// A gift has a part for each member, in the order of ranks; the giver's own stays empty.
void reduce_scatter(Seat& seat, const detail::Work& work) {
    const Rank members = seat.members();
    const Rank me = seat.me();
    const Blocks blocks(work.send_parts, work.send_elements, work, members);
    const std::size_t chunk = std::max<std::size_t>(1, kSlot / work.element_bytes / members);
    in_chunks(blocks.largest(), chunk * work.element_bytes, [&](std::size_t at, std::size_t most) {
        const std::size_t whole = blocks.pieces_before(members, members, at, most);
        std::byte* to = seat.room(whole);
        for (Rank member = 0; member < members; ++member) {
            const std::size_t bytes = blocks.piece(member, at, most);
            if (member != me) give(to, blocks.place(work.send, member, at, most), bytes);
            to += bytes;
        }
        seat.post();
        const std::size_t mine = blocks.piece(me, at, most);
        fold(seat, work, members, into(work.receive, at, mine), blocks.place(work.send, me, at, most), whole,
             blocks.pieces_before(me, members, at, most), mine);
        seat.next();
    });
}

void scan(Seat& seat, const detail::Work& work, bool exclusive) {
    const Rank members = seat.members();
    const Rank me = seat.me();
    const bool is_last = me == members - 1;
    const std::size_t all = work.send_elements * work.element_bytes;
    if (all == 0) return;
    if (all * members <= kEveryoneCombines) {
        if (!is_last) {
            give(seat.room(all), work.send, all);
            seat.post();
        }
        const Rank first = exclusive ? me : me + 1;
        if (first > 0) {
            fold(seat, work, first, seat.scratch(), work.send, all, 0, all);
            put(work.receive, seat.scratch(), all);
        }
        return seat.next();
    }
    // From member to member: each adds its own to what those before it come to.
    const std::size_t chunk =
        std::max<std::size_t>(1, chunk_of(all) / work.element_bytes) * work.element_bytes;
    in_chunks(all, chunk, [&](std::size_t at, std::size_t bytes) {
        const std::byte* const before = me == 0 ? nullptr : seat.await(me - 1, bytes);
        const std::byte* sum = work.send + at;
        if (before != nullptr && !(exclusive && is_last)) {
            std::byte* const all_before = exclusive ? seat.scratch() : work.receive + at;
            work.combine.run(work.combine.op.get(), all_before, before, sum, bytes / work.element_bytes);
            sum = all_before;
        }
        if (!is_last) {
            give(seat.room(bytes), sum, bytes);
            seat.post();
        }
        if (!exclusive || before != nullptr) put(work.receive + at, exclusive ? before : sum, bytes);
        seat.next();
    });
}

} // namespace plexus::eco::host
