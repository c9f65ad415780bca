// SPDX-License-Identifier: BSD-3-Clause
// Operations that move blocks between members through shared memory: broadcast, scatter, gather, all_gather,
// all_to_all, and the barrier.
#include "host/operations.h"

namespace plexus::eco::host {
namespace {

/// Parts from this size on, and parts that do not fit into one slot, are read from the memory of the other
/// member's process if the kernel permits it.
constexpr std::size_t kFetchFrom = std::size_t{128} << 10;
/// The same for the sum of the parts that a root would have to copy for several members.
constexpr std::size_t kRootFetchedFrom = std::size_t{1} << 20;

/// The blocks that a slot contains.
Blocks blocks_in(const std::byte* slot, Rank members) {
    std::vector<Blocks::Block> blocks(members);
    std::memcpy(blocks.data(), slot, members * sizeof(Blocks::Block));
    return Blocks(std::move(blocks));
}

/// Publishes the address of memory that the other members may read.
void publish_address(SharedArena& arena, const std::byte* memory) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory));
    std::memcpy(arena.reserve(sizeof address), &address, sizeof address);
    arena.publish();
}
/// Reads the address that `member` published.
std::uint64_t address_of(SharedArena& arena, Rank member) {
    std::uint64_t address = 0;
    std::memcpy(&address, arena.await(member, sizeof address), sizeof address);
    return address;
}

/// One round in which every member publishes its blocks, one for each member. The result has the blocks of
/// all members by rank.
std::vector<Blocks> exchange(SharedArena& arena, const Blocks& mine) {
    const std::size_t bytes = mine.all().size_bytes();
    copy_bytes(arena.reserve(bytes), reinterpret_cast<const std::byte*>(mine.all().data()), bytes);
    arena.publish();
    std::vector<Blocks> out;
    for (Rank member = 0; member < arena.members(); ++member)
        out.push_back(member == arena.me() ? mine : blocks_in(arena.await(member, bytes), arena.members()));
    arena.next_round(true);
    return out;
}

} // namespace

void barrier(SharedArena& arena) {
    arena.reserve(0);
    arena.publish();
    if (!arena.crowded()) {
        for (Rank member = 0; member < arena.members(); ++member) arena.await(member, 0);
        return arena.next_round(true);
    }
    // If members share processors, only member 0 waits for all others, instead of each for all others. It is
    // also the first to continue, which helps because 0 is the usual root.
    for (Rank member = 0; arena.me() == 0 && member < arena.members(); ++member) arena.await(member, 0);
    arena.next_round(true);
    if (arena.me() == 0) {
        arena.reserve(0);
        arena.publish();
    } else {
        arena.await(0, 0);
    }
    arena.next_round();
}

void broadcast(SharedArena& arena, const detail::CollectiveArgs& args) {
    const std::size_t all = args.receive_elements * args.element_bytes;
    in_chunks(all, chunk_of(all), [&](std::size_t at, std::size_t bytes) {
        if (arena.me() == args.root) {
            write_slot(arena.reserve_single(bytes), args.receive + at, bytes);
            arena.publish();
        } else {
            std::memcpy(args.receive + at, arena.await_single(args.root, bytes), bytes);
        }
        arena.next_round();
    });
}

namespace {

/// The root publishes the parts of all members.
Blocks blocks_of_scatter(SharedArena& arena, const detail::CollectiveArgs& args) {
    const std::size_t mine = args.receive_elements * args.element_bytes;
    if (!args.varied) return Blocks(mine);
    const std::size_t bytes = arena.members() * sizeof(Blocks::Block);
    if (arena.me() == args.root) {
        Blocks out(args.send_layout, args.send_elements, args, arena.members());
        copy_bytes(arena.reserve(bytes), reinterpret_cast<const std::byte*>(out.all().data()), bytes);
        arena.publish();
        arena.next_round();
        return out;
    }
    Blocks out = blocks_in(arena.await(args.root, bytes), arena.members());
    arena.next_round();
    if (out.size(arena.me()) != mine) throw LengthMismatch{args.root, out.size(arena.me()), mine};
    return out;
}

/// Each member reads its part from the root's memory: in parallel, and with one copy instead of two.
void scatter_fetching(SharedArena& arena, const detail::CollectiveArgs& args, const Blocks& blocks) {
    if (arena.me() == args.root) {
        publish_address(arena, args.send);
    } else {
        arena.fetch(args.root, address_of(arena, args.root) + blocks.begin(arena.me()), args.receive,
                    blocks.size(arena.me()));
    }
    arena.next_round();
    barrier(arena); // no member reads any more
}

} // namespace

/// The root's slot has a part for each other member, in the order of ranks.
void scatter(SharedArena& arena, const detail::CollectiveArgs& args) {
    const Rank members = arena.members();
    const Rank me = arena.me();
    const Blocks blocks = blocks_of_scatter(arena, args);
    if (me == args.root) copy_bytes(args.receive, args.send + blocks.begin(me), blocks.size(me));
    const bool large = members > 2 && blocks.largest() * (members - 1) >= kRootFetchedFrom;
    if (large && arena.may_fetch()) return scatter_fetching(arena, args, blocks);
    const std::size_t chunk =
        std::min(chunk_of(blocks.largest()), kSlotBytes / (members - 1) / kLine * kLine);
    in_chunks(blocks.largest(), chunk, [&](std::size_t at, std::size_t most) {
        const std::size_t whole = blocks.pieces_before(members, args.root, at, most);
        if (me == args.root) {
            std::byte* to = arena.reserve_single(whole);
            for (Rank member = 0; member < members; ++member) {
                if (member == me) continue;
                write_slot(to, blocks.place(args.send, member, at, most), blocks.piece(member, at, most));
                to += blocks.piece(member, at, most);
            }
            arena.publish();
        } else {
            const std::byte* const slot = arena.await_single(args.root, whole);
            const std::size_t bytes = blocks.piece(me, at, most);
            copy_bytes(into(args.receive, at, bytes), slot + blocks.pieces_before(me, args.root, at, most),
                       bytes);
        }
        arena.next_round();
    });
}

namespace {

/// Each member publishes the length of its part, and the root compares. Without a v form parts are equal.
Blocks blocks_of_gather(SharedArena& arena, const detail::CollectiveArgs& args) {
    const std::uint64_t mine = args.send_elements * args.element_bytes;
    if (!args.varied) return Blocks(mine);
    copy_bytes(arena.reserve(sizeof mine), reinterpret_cast<const std::byte*>(&mine), sizeof mine);
    arena.publish();
    std::vector<Blocks::Block> out(arena.members());
    for (Rank member = 0; member < arena.members(); ++member) {
        out[member].size = mine;
        if (member != arena.me())
            std::memcpy(&out[member].size, arena.await(member, sizeof mine), sizeof mine);
    }
    arena.next_round(true);
    if (arena.me() != args.root) return Blocks(std::move(out));
    Blocks due(args.receive_layout, args.receive_elements, args, arena.members());
    for (Rank member = 0; member < arena.members(); ++member)
        if (out[member].size != due.size(member))
            throw LengthMismatch{member, out[member].size, due.size(member)};
    return due;
}

} // namespace

void gather(SharedArena& arena, const detail::CollectiveArgs& args) {
    const Rank me = arena.me();
    const Blocks blocks = blocks_of_gather(arena, args);
    if (me == args.root) copy_bytes(args.receive + blocks.begin(me), args.send, blocks.size(me));
    const std::size_t chunk = chunk_of(blocks.largest());
    in_chunks(blocks.largest(), chunk, [&](std::size_t at, std::size_t most) {
        if (me != args.root) {
            const std::size_t bytes = blocks.piece(me, at, most);
            write_slot(arena.reserve(bytes), into(args.send, at, bytes), bytes);
            arena.publish();
        }
        for (Rank member = 0; me == args.root && member < arena.members(); ++member) {
            const std::size_t bytes = blocks.piece(member, at, most);
            if (member != me)
                copy_bytes(blocks.place(args.receive, member, at, most), arena.await(member, bytes), bytes);
        }
        arena.next_round();
    });
}

void all_gather(SharedArena& arena, const detail::CollectiveArgs& args) {
    const Rank me = arena.me();
    const Blocks blocks(args.receive_layout, args.receive_elements, args, arena.members());
    if (!args.in_place) copy_bytes(args.receive + blocks.begin(me), args.send, blocks.size(me));
    in_chunks(blocks.largest(), kSlotBytes, [&](std::size_t at, std::size_t most) {
        const std::size_t mine = blocks.piece(me, at, most);
        write_slot(arena.reserve(mine), blocks.place(args.receive, me, at, most), mine);
        arena.publish();
        for (Rank member = 0; member < arena.members(); ++member) {
            const std::size_t bytes = blocks.piece(member, at, most);
            const std::byte* const from = arena.await(member, bytes);
            if (member != me) copy_bytes(blocks.place(args.receive, member, at, most), from, bytes);
        }
        arena.next_round(true);
    });
}

namespace {

/// What members send to each other, with lengths compared.
class ExchangeTable {
  public:
    ExchangeTable(SharedArena& arena, const detail::CollectiveArgs& args)
      : mine_(args.send_layout, args.send_elements, args, arena.members())
      , into(args.receive_layout, args.receive_elements, args, arena.members())
      , largest(mine_.largest()) {
        if (!args.varied) return;
        all_ = exchange(arena, mine_);
        for (Rank member = 0; member < arena.members(); ++member) {
            const std::size_t sent = all_[member].size(arena.me());
            if (sent != into.size(member)) throw LengthMismatch{member, sent, into.size(member)};
            largest = std::max(largest, all_[member].largest());
        }
    }
    /// The blocks that `member` sends.
    const Blocks& of(Rank member) const { return all_.empty() ? mine_ : all_[member]; }

  private:
    Blocks mine_;
    std::vector<Blocks> all_;

  public:
    Blocks into; ///< the blocks that this member receives
    std::size_t largest;
};

/// Each member reads its blocks from the memory of the others: one copy instead of two, at the price of a
/// system call. A member that works in place, which the others do not know, first copies what they read.
void all_to_all_fetching(SharedArena& arena, const detail::CollectiveArgs& args, const ExchangeTable& table) {
    std::vector<std::byte> copy;
    if (args.send == args.receive)
        copy.assign(args.send, args.send + args.send_elements * args.element_bytes);
    publish_address(arena, copy.empty() ? args.send : copy.data());
    for (Rank step = 1; step < arena.members(); ++step) { // not all of them from the same member at a time
        const Rank member = (arena.me() + step) % arena.members();
        const std::uint64_t there = address_of(arena, member) + table.of(member).begin(arena.me());
        arena.fetch(member, there, args.receive + table.into.begin(member), table.into.size(member));
    }
    arena.next_round(true);
    barrier(arena); // no memory is read any more
}

} // namespace

/// A slot has a part for each other member, in the order of ranks.
void all_to_all(SharedArena& arena, const detail::CollectiveArgs& args) {
    const Rank members = arena.members();
    const Rank me = arena.me();
    const ExchangeTable table(arena, args);
    const Blocks& mine = table.of(me);
    copy_bytes(args.receive + table.into.begin(me), args.send + mine.begin(me), mine.size(me));
    const bool large = table.largest >= kFetchFrom || table.largest * (members - 1) > kSlotBytes;
    if (large && arena.may_fetch()) return all_to_all_fetching(arena, args, table);
    in_chunks(
        table.largest, kSlotBytes / (members - 1) / kLine * kLine, [&](std::size_t at, std::size_t most) {
            std::byte* to = arena.reserve(mine.pieces_before(members, me, at, most));
            for (Rank member = 0; member < members; ++member) {
                if (member == me) continue;
                write_slot(to, mine.place(args.send, member, at, most), mine.piece(member, at, most));
                to += mine.piece(member, at, most);
            }
            arena.publish(); // with all that is overwritten in place from here on
            for (Rank member = 0; member < members; ++member) {
                const Blocks& theirs = table.of(member);
                const std::byte* const slot =
                    arena.await(member, theirs.pieces_before(members, member, at, most));
                if (member != me)
                    copy_bytes(table.into.place(args.receive, member, at, most),
                               slot + theirs.pieces_before(me, member, at, most), theirs.piece(me, at, most));
            }
            arena.next_round(true);
        });
}

} // namespace plexus::eco::host
