// SPDX-License-Identifier: BSD-3-Clause
// Operations that bring blocks from one member to others.
#include "host/operations.h"

namespace plexus::eco::host {
namespace {

/// Parts from this size on, and those that do not fit one gift, are read out of the other members'
/// memory where the kernel permits it.
constexpr std::size_t kFetchFrom = std::size_t{128} << 10;
/// The same for what a root would have to copy for all others, if there are several.
constexpr std::size_t kRootFetchedFrom = std::size_t{1} << 20;

/// What stands in a gift.
Blocks blocks_in(const std::byte* gift, Rank members) {
    std::vector<Blocks::Block> blocks(members);
    std::memcpy(blocks.data(), gift, members * sizeof(Blocks::Block));
    return Blocks(std::move(blocks));
}

/// Gives the others the address of memory that they may read.
void show_address(Seat& seat, const std::byte* memory) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory));
    std::memcpy(seat.room(sizeof address), &address, sizeof address);
    seat.post();
}
/// That of a member's.
std::uint64_t address_of(Seat& seat, Rank member) {
    std::uint64_t address = 0;
    std::memcpy(&address, seat.await(member, sizeof address), sizeof address);
    return address;
}

/// One round in which everyone gives the blocks of a span, one for each member, and learns all
/// others': by giver.
std::vector<Blocks> exchange(Seat& seat, const Blocks& mine) {
    const std::size_t bytes = mine.all().size_bytes();
    put(seat.room(bytes), reinterpret_cast<const std::byte*>(mine.all().data()), bytes);
    seat.post();
    std::vector<Blocks> out;
    for (Rank member = 0; member < seat.members(); ++member)
        out.push_back(member == seat.me() ? mine : blocks_in(seat.await(member, bytes), seat.members()));
    seat.next(true);
    return out;
}

} // namespace

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
    in_chunks(all, chunk_of(all), [&](std::size_t at, std::size_t bytes) {
        if (seat.me() == work.root) {
            give(seat.only_room(bytes), work.receive + at, bytes);
            seat.post();
        } else {
            std::memcpy(work.receive + at, seat.await_only(work.root, bytes), bytes);
        }
        seat.next();
    });
}

namespace {

/// The root knows all parts, and tells them.
Blocks blocks_of_scatter(Seat& seat, const detail::Work& work) {
    const std::size_t mine = work.receive_elements * work.element_bytes;
    if (!work.varied) return Blocks(mine);
    const std::size_t bytes = seat.members() * sizeof(Blocks::Block);
    if (seat.me() == work.root) {
        Blocks out(work.send_parts, work.send_elements, work, seat.members());
        put(seat.room(bytes), reinterpret_cast<const std::byte*>(out.all().data()), bytes);
        seat.post();
        seat.next();
        return out;
    }
    Blocks out = blocks_in(seat.await(work.root, bytes), seat.members());
    seat.next();
    if (out.size(seat.me()) != mine) throw Uneven{work.root, out.size(seat.me()), mine};
    return out;
}

/// Each member reads its part out of the root's memory: all of them at once, and one copy instead of two.
void scatter_fetching(Seat& seat, const detail::Work& work, const Blocks& blocks) {
    if (seat.me() == work.root) {
        show_address(seat, work.send);
    } else {
        seat.fetch(work.root, address_of(seat, work.root) + blocks.begin(seat.me()), work.receive,
                   blocks.size(seat.me()));
    }
    seat.next();
    barrier(seat); // nobody reads any more
}

} // namespace

/// The root's gift has a part for each other member, in the order of ranks.
void scatter(Seat& seat, const detail::Work& work) {
    const Rank members = seat.members();
    const Rank me = seat.me();
    const Blocks blocks = blocks_of_scatter(seat, work);
    if (me == work.root) put(work.receive, work.send + blocks.begin(me), blocks.size(me));
    const bool large = members > 2 && blocks.largest() * (members - 1) >= kRootFetchedFrom;
    if (large && seat.may_fetch()) return scatter_fetching(seat, work, blocks);
    const std::size_t chunk = std::min(chunk_of(blocks.largest()), kSlot / (members - 1) / kLine * kLine);
    in_chunks(blocks.largest(), chunk, [&](std::size_t at, std::size_t most) {
        const std::size_t whole = blocks.pieces_before(members, work.root, at, most);
        if (me == work.root) {
            std::byte* to = seat.only_room(whole);
            for (Rank member = 0; member < members; ++member) {
                if (member == me) continue;
                give(to, blocks.place(work.send, member, at, most), blocks.piece(member, at, most));
                to += blocks.piece(member, at, most);
            }
            seat.post();
        } else {
            const std::byte* const gift = seat.await_only(work.root, whole);
            const std::size_t bytes = blocks.piece(me, at, most);
            put(into(work.receive, at, bytes), gift + blocks.pieces_before(me, work.root, at, most), bytes);
        }
        seat.next();
    });
}

namespace {

/// Each member tells the length of its part, and the root compares. Else they are alike.
Blocks blocks_of_gather(Seat& seat, const detail::Work& work) {
    const std::uint64_t mine = work.send_elements * work.element_bytes;
    if (!work.varied) return Blocks(mine);
    put(seat.room(sizeof mine), reinterpret_cast<const std::byte*>(&mine), sizeof mine);
    seat.post();
    std::vector<Blocks::Block> out(seat.members());
    for (Rank member = 0; member < seat.members(); ++member) {
        out[member].size = mine;
        if (member != seat.me()) std::memcpy(&out[member].size, seat.await(member, sizeof mine), sizeof mine);
    }
    seat.next(true);
    if (seat.me() != work.root) return Blocks(std::move(out));
    Blocks due(work.receive_parts, work.receive_elements, work, seat.members());
    for (Rank member = 0; member < seat.members(); ++member)
        if (out[member].size != due.size(member)) throw Uneven{member, out[member].size, due.size(member)};
    return due;
}

} // namespace

void gather(Seat& seat, const detail::Work& work) {
    const Rank me = seat.me();
    const Blocks blocks = blocks_of_gather(seat, work);
    if (me == work.root) put(work.receive + blocks.begin(me), work.send, blocks.size(me));
    const std::size_t chunk = chunk_of(blocks.largest());
    in_chunks(blocks.largest(), chunk, [&](std::size_t at, std::size_t most) {
        if (me != work.root) {
            const std::size_t bytes = blocks.piece(me, at, most);
            give(seat.room(bytes), into(work.send, at, bytes), bytes);
            seat.post();
        }
        for (Rank member = 0; me == work.root && member < seat.members(); ++member) {
            const std::size_t bytes = blocks.piece(member, at, most);
            if (member != me)
                put(blocks.place(work.receive, member, at, most), seat.await(member, bytes), bytes);
        }
        seat.next();
    });
}

void all_gather(Seat& seat, const detail::Work& work) {
    const Rank me = seat.me();
    const Blocks blocks(work.receive_parts, work.receive_elements, work, seat.members());
    if (!work.in_place) put(work.receive + blocks.begin(me), work.send, blocks.size(me));
    in_chunks(blocks.largest(), kSlot, [&](std::size_t at, std::size_t most) {
        const std::size_t mine = blocks.piece(me, at, most);
        give(seat.room(mine), blocks.place(work.receive, me, at, most), mine);
        seat.post();
        for (Rank member = 0; member < seat.members(); ++member) {
            const std::size_t bytes = blocks.piece(member, at, most);
            const std::byte* const from = seat.await(member, bytes);
            if (member != me) put(blocks.place(work.receive, member, at, most), from, bytes);
        }
        seat.next(true);
    });
}

namespace {

/// What members send each other, compared.
class Table {
  public:
    Table(Seat& seat, const detail::Work& work)
      : mine_(work.send_parts, work.send_elements, work, seat.members())
      , into(work.receive_parts, work.receive_elements, work, seat.members())
      , largest(mine_.largest()) {
        if (!work.varied) return;
        all_ = exchange(seat, mine_);
        for (Rank member = 0; member < seat.members(); ++member) {
            const std::size_t sent = all_[member].size(seat.me());
            if (sent != into.size(member)) throw Uneven{member, sent, into.size(member)};
            largest = std::max(largest, all_[member].largest());
        }
    }
    /// The blocks in what `member` sends.
    const Blocks& of(Rank member) const { return all_.empty() ? mine_ : all_[member]; }

  private:
    Blocks mine_;
    std::vector<Blocks> all_;

  public:
    Blocks into; ///< in what this member receives
    std::size_t largest;
};

/// Each member reads what is for it out of the others' memory: one copy instead of two, for a call of
/// the system. Who works in place, which the others do not know, copies what they read first.
void all_to_all_fetching(Seat& seat, const detail::Work& work, const Table& table) {
    std::vector<std::byte> copy;
    if (work.send == work.receive)
        copy.assign(work.send, work.send + work.send_elements * work.element_bytes);
    show_address(seat, copy.empty() ? work.send : copy.data());
    for (Rank step = 1; step < seat.members(); ++step) { // not all of them from the same one at a time
        const Rank member = (seat.me() + step) % seat.members();
        const std::uint64_t there = address_of(seat, member) + table.of(member).begin(seat.me());
        seat.fetch(member, there, work.receive + table.into.begin(member), table.into.size(member));
    }
    seat.next(true);
    barrier(seat); // nobody's memory is read any more
}

} // namespace

/// A gift has a part for each other member, in the order of ranks.
void all_to_all(Seat& seat, const detail::Work& work) {
    const Rank members = seat.members();
    const Rank me = seat.me();
    const Table table(seat, work);
    const Blocks& mine = table.of(me);
    put(work.receive + table.into.begin(me), work.send + mine.begin(me), mine.size(me));
    const bool large = table.largest >= kFetchFrom || table.largest * (members - 1) > kSlot;
    if (large && seat.may_fetch()) return all_to_all_fetching(seat, work, table);
    in_chunks(table.largest, kSlot / (members - 1) / kLine * kLine, [&](std::size_t at, std::size_t most) {
        std::byte* to = seat.room(mine.pieces_before(members, me, at, most));
        for (Rank member = 0; member < members; ++member) {
            if (member == me) continue;
            give(to, mine.place(work.send, member, at, most), mine.piece(member, at, most));
            to += mine.piece(member, at, most);
        }
        seat.post(); // what is overwritten in place from here on is in there
        for (Rank member = 0; member < members; ++member) {
            const Blocks& theirs = table.of(member);
            const std::byte* const gift = seat.await(member, theirs.pieces_before(members, member, at, most));
            if (member != me)
                put(table.into.place(work.receive, member, at, most),
                    gift + theirs.pieces_before(me, member, at, most), theirs.piece(me, at, most));
        }
        seat.next(true);
    });
}

} // namespace plexus::eco::host
