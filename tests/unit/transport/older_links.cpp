// SPDX-License-Identifier: BSD-3-Clause
// Links that have a successor: what still comes of them, an answer half read in place or a dial that fails
// late, does not disturb the newer link.
#include "scripted.h"

namespace older_links_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

constexpr std::size_t kRest = 4096;

/// The array of a caller, which the answer to its call is read into.
struct Caller {
    std::vector<std::byte> array = std::vector<std::byte>(kRest);
    std::vector<Status> ended; ///< placements, in order

    Sink sink() {
        Sink made;
        made.self = this;
        made.take = [](void*, transport::Link&, wire::View, Buffer*) {};
        made.place = [](void* self, transport::Link&, wire::View, std::size_t, Placement& placement,
                        void** where) {
            auto& caller = *static_cast<Caller*>(self);
            *where = caller.array.data();
            placement.self = self;
            placement.finish = [](void* finisher, Placement&, Status status) {
                static_cast<Caller*>(finisher)->ended.push_back(status);
            };
            return true;
        };
        return made;
    }
};

wire::Bytes head_of(Kind kind) {
    wire::Bytes bytes(64);
    bytes[0] = static_cast<std::byte>(kind);
    return bytes;
}

} // namespace

TEST_CASE("a peer's question about an older link ends it before an answer can be placed a second time") {
    Rig rig;
    Caller caller;
    rig.transport.demux().on(Kind::data, caller.sink());
    ScriptedMethod::Link& older = rig.link_up(rig.one);
    rig.one.deliver(older, rig.hello(5));
    std::int32_t said = PLEXUS_LINK_LOST;
    rig.one.place(older, head_of(Kind::data), kRest, &said);
    rig.turns();
    REQUIRE(said == PLEXUS_OK);
    REQUIRE(caller.ended.empty());

    // The peer has noticed a break that this side has not: it dials, and asks how much had arrived.
    rig.one.accept(Rig::id(2));
    rig.turns();
    ScriptedMethod::Link& newer = rig.one.link();
    REQUIRE(&newer != &older);
    bool over_at_answer = false;
    rig.one.on_send = [&](ScriptedMethod::Link& link, const wire::Bytes& bytes) {
        if (&link == &newer && wire::kind_of(bytes) == Kind::replay_answer)
            over_at_answer = older.given_up && caller.ended == std::vector<Status>{Status::link_lost};
    };
    rig.one.deliver(newer, rig.hello(6));
    rig.one.deliver(newer, Rig::control(Kind::replay_request, 5, 0));
    rig.one.place(newer, head_of(Kind::data), kRest, &said); // the answer anew, behind the question
    rig.one.placed(older);                                   // too late
    rig.one.placed(newer);
    rig.turns();
    REQUIRE(rig.one.sent(newer, Kind::replay_answer).size() == 1);
    CHECK(over_at_answer);
    CHECK(said == PLEXUS_OK);
    CHECK(caller.ended == std::vector<Status>{Status::link_lost, Status::ok});
}

TEST_CASE("an answer that is whole after its link has broken the rules has not come") {
    const auto warning = expect_warning("a frame of an unknown kind");
    Rig rig;
    Caller caller;
    rig.transport.demux().on(Kind::data, caller.sink());
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(5));
    std::int32_t said = PLEXUS_LINK_LOST;
    rig.one.place(link, head_of(Kind::data), kRest, &said);
    rig.turns();
    REQUIRE(said == PLEXUS_OK);
    rig.one.deliver(link, wire::Bytes(8, std::byte{31})); // of a kind that there is not
    rig.one.placed(link);                                 // in the same turn
    rig.turns();
    CHECK(caller.ended == std::vector<Status>{Status::link_lost});
    CHECK(warning.count() == 1);
}

TEST_CASE("a dial that fails after a newer one has begun ends nothing") {
    Rig rig;
    rig.two.connect = PLEXUS_BAD_ARGUMENT;
    Channel& channel = rig.channel(rig.one);
    channel.reconnect();
    ScriptedMethod::Link& older = rig.one.link(); // still dials
    rig.one.accept(Rig::id(2));
    rig.turns();
    ScriptedMethod::Link& came = rig.one.link();
    rig.one.deliver(came, rig.hello(5));
    Message message(100);
    rig.inside([&] { CHECK(channel.send(message, nullptr) == Status::ok); });
    rig.one.lose(came);
    rig.turns();
    REQUIRE(rig.one.links() == 3);
    ScriptedMethod::Link& newer = rig.one.link();
    rig.one.lose(older);
    rig.turns();
    CHECK_FALSE(channel.dead());
    CHECK(rig.one.links() == 3);
    rig.one.open(newer);
    rig.one.deliver(newer, rig.hello(6));
    rig.one.deliver(newer, Rig::control(Kind::replay_answer, rig.stream_of(came), 0));
    rig.turns();
    CHECK(rig.one.sent(newer, Kind::request).size() == 1);
    CHECK(rig.heard.frames == 0);
    CHECK(rig.heard.peers.empty());
    CHECK(rig.heard.events.empty());
}

} // namespace older_links_test
