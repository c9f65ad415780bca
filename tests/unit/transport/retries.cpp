// SPDX-License-Identifier: BSD-3-Clause
// A peer that is tried again and again: what the tries leave behind, and what is still said of it once one
// has succeeded.
#include "scripted.h"
#include "transport/route.h"

namespace retries_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;

namespace {

/// A lost peer is tried again after a while; here that has passed.
void let_retry(Peer& peer) {
    Lock hold(peer.mutex);
    peer.state.since -= std::chrono::minutes(1);
}

std::size_t channels_of(const Peer& peer) { return peer.all_channels().size(); }

} // namespace

TEST_CASE("tries of a peer that stays lost leave no channels behind") {
    const bool in_handler = GENERATE(false, true); // whose frame waits, and is lost with the peer
    CAPTURE(in_handler);
    Rig rig;
    rig.one.connect = rig.two.connect = PLEXUS_BAD_ARGUMENT;
    detail::Route route(nullptr, rig.transport.endpoint(), rig.peer, rig.peer->owners_table());
    constexpr std::size_t kTries = 50;
    for (std::size_t tries = 1; tries <= kTries; ++tries) {
        Message message(100);
        if (in_handler)
            rig.inside([&] { CHECK(route.send(message, nullptr) == Status::ok); });
        else
            CHECK(route.send(message, nullptr) == Status::peer_lost);
        rig.turns();
        REQUIRE(rig.peer->presence() == Presence::lost);
        CHECK(rig.heard.frames == (in_handler ? tries : 0));
        REQUIRE(channels_of(*rig.peer) <= 2);
        let_retry(*rig.peer);
    }
    // Each try has dialled anew: the last finds the peer.
    rig.one.connect = PLEXUS_OK;
    rig.one.opens = true;
    Message message(100);
    CHECK(route.send(message, nullptr) == Status::ok);
    CHECK(rig.heard.events == std::vector<Status>{Status::peer_lost, Status::peer_back});
    CHECK(channels_of(*rig.peer) == 2);
}

TEST_CASE("a peer that was reached after it had denied is lost later for what happens then") {
    Rig rig;
    rig.two.connect = PLEXUS_BAD_ARGUMENT;
    detail::Route route(nullptr, rig.transport.endpoint(), rig.peer, rig.peer->owners_table());
    const auto refusal = [&] {
        Message message(100);
        return route.send(message, nullptr);
    };
    rig.channel(rig.one).reconnect();
    rig.one.lose(rig.one.link(), PLEXUS_DENIED);
    rig.turns();
    CHECK(rig.heard.peers == std::vector<Status>{Status::denied});
    CHECK(refusal() == Status::denied);

    rig.one.accept(Rig::id(2)); // it has the right key by now
    rig.turns();
    ScriptedMethod::Link& link = rig.one.link();
    rig.one.deliver(link, rig.hello(5));
    rig.turns();
    CHECK(rig.peer->presence() == Presence::here);
    CHECK(refusal() == Status::ok);

    rig.one.lose(link, PLEXUS_PEER_LOST);
    rig.turns();
    CHECK(rig.heard.peers == std::vector<Status>{Status::denied, Status::peer_lost});
    CHECK(refusal() == Status::peer_lost);
}

} // namespace retries_test
