// SPDX-License-Identifier: BSD-3-Clause
// Messages in pieces: what a link's two halves do without a forwarder between them.
#include "forward/receiver.h"
#include "forward/sender.h"

#include "support/catch.h"

#include <algorithm>

namespace forward_pieces_test {

using namespace plexus;
using namespace plexus::forward;

using Load = std::vector<std::byte>;

std::int32_t offer(Sender& sender, const Load& load, void* token = nullptr) {
    const plexus_view pieces[] = {{load.data(), 8}, {load.data() + 8, load.size() - 8}};
    return sender.offer(pieces, 2, token);
}

TEST_CASE("copied messages wait in a bounded memory, and whoever was refused hears once of room") {
    Sender sender;
    sender.open(std::uint64_t{1} << 20);
    const Load load(Sender::kEager);
    std::size_t taken = 0;
    while (taken < 100 && offer(sender, load) == PLEXUS_OK) ++taken;
    CHECK(taken * load.size() <= std::size_t{512} * 1024);
    CHECK_FALSE(sender.owes_writable()); // there is no room yet
    Sender::Piece piece;
    REQUIRE(sender.next(piece));
    CHECK(piece.last);
    sender.taken(piece);
    CHECK(sender.owes_writable());
    CHECK_FALSE(sender.owes_writable());
    CHECK(offer(sender, load) == PLEXUS_OK);
}

TEST_CASE("what a link has posted is given back when it ends, and nothing is taken behind it") {
    Sender sender;
    const Load large(100'000);
    const Load small(100);
    int first = 0;
    int second = 0;
    CHECK(offer(sender, large, &first) == PLEXUS_POSTED);
    CHECK(offer(sender, small) == PLEXUS_OK);
    CHECK(offer(sender, large, &second) == PLEXUS_POSTED);
    CHECK(sender.abandon() == std::vector<void*>{&first, &second});
    CHECK(sender.abandon().empty());
    CHECK(offer(sender, small) == PLEXUS_LINK_LOST);
}

/// The host of a receiver: one place for messages, and what it was told.
struct Taker {
    Taker() {
        table.place = [](void* self, plexus_view, std::size_t rest, void** where, void**) -> std::int32_t {
            auto& taker = *static_cast<Taker*>(self);
            taker.place.assign(rest + 1000, std::byte{}); // room for what should not come
            *where = taker.place.data();
            return PLEXUS_OK;
        };
        table.placed = [](void* self, void*, std::int32_t status) {
            static_cast<Taker*>(self)->ended.push_back(status);
        };
        table.arriving = [](void* self) { ++static_cast<Taker*>(self)->arriving; };
        table.deliver = [](void* self, plexus_view) { ++static_cast<Taker*>(self)->delivered; };
    }
    plexus_host table{};
    Load place;
    std::vector<std::int32_t> ended; ///< of each placement
    int arriving = 0;
    int delivered = 0;
};

Hop piece(Kind kind, std::uint64_t number, const Load& bytes) { return {kind, number, bytes}; }

TEST_CASE("pieces that belong to no message, or are longer than it, are refused") {
    Taker taker;
    Receiver receiver(taker.table, 1000);
    const Load load(1000, std::byte{1});
    const auto part = [&](std::size_t size) {
        return Load(load.begin(), load.begin() + static_cast<std::ptrdiff_t>(size));
    };
    CHECK_FALSE(receiver.take(&taker, piece(Kind::more, 0, part(10))));
    CHECK_FALSE(receiver.take(&taker, piece(Kind::data, sizes(8, 1001), part(100)))); // than was agreed on
    CHECK_FALSE(receiver.take(&taker, piece(Kind::data, sizes(8, 99), part(100))));
    CHECK_FALSE(receiver.take(&taker, piece(Kind::data, sizes(101, 1000), part(100))));
    CHECK_FALSE(receiver.take(&taker, piece(Kind::data, sizes(8, 1000), {})));
    REQUIRE(receiver.take(&taker, piece(Kind::data, sizes(8, 1000), part(100))));
    CHECK_FALSE(receiver.take(&taker, piece(Kind::data, sizes(8, 1000), part(100)))); // inside of it
    CHECK_FALSE(receiver.take(&taker, piece(Kind::more, 0, part(901))));
    CHECK(receiver.take(&taker, piece(Kind::more, 0, part(400))));
    CHECK(taker.arriving == 1);
    CHECK(taker.ended.empty());
    CHECK(receiver.take(&taker, piece(Kind::more, 0, part(500))));
    CHECK(taker.ended == std::vector<std::int32_t>{PLEXUS_OK});
    CHECK(std::all_of(taker.place.begin(), taker.place.begin() + 992,
                      [](std::byte b) { return b == std::byte{1}; }));
    CHECK(taker.delivered == 0);
}

TEST_CASE("a placement ends with its link, and nothing is written there once the link was given up") {
    Taker taker;
    Receiver receiver(taker.table, 0);
    const Load half(500, std::byte{1});
    REQUIRE(receiver.take(&taker, piece(Kind::data, sizes(8, 1000), half)));
    SECTION("it is lost") {
        receiver.end(&taker);
        CHECK(taker.ended == std::vector<std::int32_t>{PLEXUS_LINK_LOST});
    }
    SECTION("it is given up") {
        receiver.give_up();
        REQUIRE(receiver.take(&taker, piece(Kind::more, 0, half)));
        receiver.end(&taker);
        CHECK(taker.ended.empty());
        CHECK(taker.place[491] == std::byte{1});
        CHECK(taker.place[492] == std::byte{});
    }
}

} // namespace forward_pieces_test
