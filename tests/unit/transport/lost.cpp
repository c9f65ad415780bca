// SPDX-License-Identifier: BSD-3-Clause
// When a peer counts as lost, and who is told what then.
#include "scripted.h"

namespace lost_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

std::vector<Status> once(Status status) { return {status}; }

} // namespace

TEST_CASE("a process that has ended is lost by all methods, also by one that does not notice") {
    Rig rig;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    rig.two.connect = PLEXUS_BAD_ARGUMENT;
    rig.one.lose(first, PLEXUS_PEER_LOST);
    rig.turns();
    CHECK_FALSE(second.given_up); // what the peer had sent by it is read
    CHECK(rig.heard.events.empty());
    REQUIRE(eventually(20s, [&] {
        rig.turns();
        return !rig.heard.events.empty();
    }));
    CHECK(second.given_up);
    CHECK(rig.heard.events == once(Status::peer_lost));
}

TEST_CASE("a peer is not lost while another method still dials it") {
    Rig rig;
    rig.channel(rig.two).reconnect(); // under way
    rig.turns();
    REQUIRE(rig.two.links() == 1);
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    rig.channel(rig.one).reconnect();
    rig.turns();
    CHECK(rig.heard.events.empty());
    CHECK(rig.heard.peers.empty());
    SECTION("that gets there") {
        rig.two.open(rig.two.link());
        rig.turns();
        CHECK(rig.heard.events.empty());
        CHECK(rig.peer->presence() == Presence::here);
    }
    SECTION("that does not") {
        rig.two.lose(rig.two.link());
        REQUIRE(eventually(20s, [&] {
            rig.turns();
            return !rig.heard.events.empty();
        }));
        CHECK(rig.heard.events == once(Status::peer_lost));
    }
}

TEST_CASE("a peer that came back by one method takes there what waits by another that does not get there") {
    Rig rig;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    Message message(100);
    CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    // No row of the peer's table leads there from here: only the link that it has made.
    rig.peer->learn(KnownTable::make({}), true);
    rig.one.lose(first);
    REQUIRE(eventually(20s, [&] {
        rig.turns();
        return !rig.two.sent(second, Kind::replay_request).empty();
    }));
    CHECK(rig.heard.frames == 0);
    CHECK(rig.heard.events.empty());
}

TEST_CASE("a method whose frames went on by another is used again only when they have arrived") {
    Rig rig;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    Message message(100);
    Channel& one = rig.channel(rig.one);
    CHECK(one.send(message, nullptr) == Status::ok);
    rig.two.connect = PLEXUS_OK; // never opens
    const auto said = expect_warning("a frame of an unknown kind");
    rig.one.deliver(first, wire::Bytes(8, std::byte{31}));
    rig.turns();
    REQUIRE(one.dead());
    Channel* const successor = one.successor();
    REQUIRE(successor != nullptr);
    CHECK(&rig.channel(rig.one) != &one); // not revived: its frame waits elsewhere
    rig.two.open(rig.two.link());
    rig.two.deliver(rig.two.link(), Rig::control(Kind::replay_answer, rig.stream_of(first), 1));
    rig.turns();
    Channel* const again = &rig.channel(rig.one);
    CHECK_FALSE(again->dead());
}

TEST_CASE("an answer that no method takes any more is counted, and told on every way that is left") {
    Rig rig;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    rig.link_up(rig.two);
    Channel& one = rig.channel(rig.one);
    const auto said = expect_warning("a frame of an unknown kind");
    rig.one.deliver(first, wire::Bytes(8, std::byte{31}));
    rig.turns();
    REQUIRE(one.dead());
    rig.transport.endpoint().note_dropped(*rig.peer, wire::Dropped::answers);
    rig.turns();
    CHECK(rig.peer->dropped.now().answers == 1);
    const auto told = rig.two.sent(rig.two.link(), Kind::dropped);
    REQUIRE(told.size() == 1);
    CHECK(wire::decode_dropped(wire::View(told.front()))->count == 1);
}

TEST_CASE("an answer that finds no way is counted for its peer") {
    Rig rig;
    const auto peer = rig.transport.endpoint().peer(Rig::id(9)); // its table is not known
    Channel& way = rig.transport.endpoint().channel(*peer, rig.peer->owners_table()->table[0]);
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    way.reconnect();
    rig.turns();
    REQUIRE(way.dead());
    const auto answer = [&](bool from_reserve) {
        Message message(100);
        message.from_reserve = from_reserve;
        std::string why;
        return rig.transport.endpoint().answer(way, message, &why);
    };
    CHECK(answer(false) == Status::link_lost); // whoever asked is told by its return
    CHECK(peer->dropped.now().answers == 0);
    CHECK(answer(true) == Status::link_lost);
    CHECK(peer->dropped.now().answers == 1);
}

} // namespace lost_test
