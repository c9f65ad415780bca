// SPDX-License-Identifier: BSD-3-Clause
// Operations that combine what members contribute.
#include "host/operations.h"

namespace plexus::eco::host {
namespace {

/// If all contributions together have at most so many bytes, each member combines all of them. Otherwise each
/// member combines a share.
constexpr std::size_t kEveryoneCombines = std::size_t{16} << 10;

/// into = op(left, right): `bytes` bytes of each.
void combine(const detail::CollectiveArgs& args, std::byte* into, const std::byte* left,
             const std::byte* right, std::size_t bytes) {
    try {
        args.combine.run(args.combine.op.get(), into, left, right, bytes / args.element_bytes);
    } catch (...) { throw OperationThrew{std::current_exception()}; }
}

/// Combines the contributions of the first `members` members in this round, which are in slots of `whole`
/// bytes: `bytes` bytes of each, from offset `from` on. `into` must not overlap them. This member's own
/// contribution is read from `own`.
void fold(SharedArena& arena, const detail::CollectiveArgs& args, Rank members, std::byte* into,
          const std::byte* own, std::size_t whole, std::size_t from, std::size_t bytes) {
    if (bytes == 0) return;
    const auto part_of = [&](Rank member) {
        return member == arena.me() ? own : arena.await(member, whole) + from;
    };
    const std::byte* left = part_of(0);
    for (Rank member = 1; member < members; ++member) {
        combine(args, into, left, part_of(member), bytes);
        left = into;
    }
    copy_bytes(into, left, bytes); // if there is only one contribution
}

} // namespace

void reduce(SharedArena& arena, const detail::CollectiveArgs& args, bool to_all) {
    const Rank members = arena.members();
    const bool wants = to_all || arena.me() == args.root;
    const std::size_t all = args.send_elements * args.element_bytes;
    if (all * members <= kEveryoneCombines) {
        if (all == 0) return;
        write_slot(arena.reserve(all), args.send, all);
        arena.publish();
        if (wants) {
            std::byte* const sum = args.send == args.receive ? arena.scratch() : args.receive;
            fold(arena, args, members, sum, args.send, all, 0, all);
            copy_bytes(args.receive, sum, all);
        }
        return arena.next_round(to_all);
    }
    // Each member combines a share of each chunk and publishes the result.
    const std::size_t each = std::max<std::size_t>(1, kSlotBytes / args.element_bytes / members);
    in_chunks(all, each * members * args.element_bytes, [&](std::size_t at, std::size_t bytes) {
        const std::size_t elements = bytes / args.element_bytes;
        const auto begin_of = [&](Rank member) { return elements * member / members * args.element_bytes; };
        const auto size_of = [&](Rank member) { return begin_of(member + 1) - begin_of(member); };
        const std::size_t before = begin_of(arena.me());
        const std::size_t mine = size_of(arena.me());
        std::byte* const to = arena.reserve(bytes);
        write_slot(to, args.send + at, before); // no other member reads its own share
        write_slot(to + before + mine, args.send + at + before + mine, bytes - before - mine);
        arena.publish();
        for (Rank member = 0; member < members; ++member) arena.await(member, bytes);
        fold(arena, args, members, arena.scratch(), args.send + at + before, bytes, before, mine);
        write_slot(arena.reserve(mine, 1), arena.scratch(), mine);
        arena.next_round(true);
        arena.publish();
        for (Rank member = 0; wants && member < members; ++member)
            copy_bytes(args.receive + at + begin_of(member),
                       member == arena.me() ? arena.scratch() : arena.await(member, size_of(member)),
                       size_of(member));
        arena.next_round(to_all);
    });
}

/// A slot has a part for each member, in the order of ranks; the publisher's own part is unused.
void reduce_scatter(SharedArena& arena, const detail::CollectiveArgs& args) {
    const Rank members = arena.members();
    const Rank me = arena.me();
    const Blocks blocks(args.send_layout, args.send_elements, args, members);
    const std::size_t chunk = std::max<std::size_t>(1, kSlotBytes / args.element_bytes / members);
    in_chunks(blocks.largest(), chunk * args.element_bytes, [&](std::size_t at, std::size_t most) {
        const std::size_t whole = blocks.pieces_before(members, members, at, most);
        std::byte* to = arena.reserve(whole);
        for (Rank member = 0; member < members; ++member) {
            const std::size_t bytes = blocks.piece(member, at, most);
            if (member != me) write_slot(to, blocks.place(args.send, member, at, most), bytes);
            to += bytes;
        }
        arena.publish();
        const std::size_t mine = blocks.piece(me, at, most);
        fold(arena, args, members, into(args.receive, at, mine), blocks.place(args.send, me, at, most), whole,
             blocks.pieces_before(me, members, at, most), mine);
        arena.next_round();
    });
}

void scan(SharedArena& arena, const detail::CollectiveArgs& args, bool exclusive) {
    const Rank members = arena.members();
    const Rank me = arena.me();
    const bool is_last = me == members - 1;
    const std::size_t all = args.send_elements * args.element_bytes;
    if (all == 0) return;
    if (all * members <= kEveryoneCombines) {
        if (!is_last) {
            write_slot(arena.reserve(all), args.send, all);
            arena.publish();
        }
        const Rank first = exclusive ? me : me + 1;
        if (first > 0) {
            fold(arena, args, first, arena.scratch(), args.send, all, 0, all);
            copy_bytes(args.receive, arena.scratch(), all);
        }
        return arena.next_round();
    }
    // A chain: each member combines the result of the members before it with its own contribution.
    const std::size_t chunk =
        std::max<std::size_t>(1, chunk_of(all) / args.element_bytes) * args.element_bytes;
    in_chunks(all, chunk, [&](std::size_t at, std::size_t bytes) {
        const std::byte* const before = me == 0 ? nullptr : arena.await(me - 1, bytes);
        const std::byte* sum = args.send + at;
        if (before != nullptr && !(exclusive && is_last)) {
            std::byte* const all_before = exclusive ? arena.scratch() : args.receive + at;
            combine(args, all_before, before, sum, bytes);
            sum = all_before;
        }
        if (!is_last) {
            write_slot(arena.reserve(bytes), sum, bytes);
            arena.publish();
        }
        if (!exclusive || before != nullptr) copy_bytes(args.receive + at, exclusive ? before : sum, bytes);
        arena.next_round();
    });
}

} // namespace plexus::eco::host
