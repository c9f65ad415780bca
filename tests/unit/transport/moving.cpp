// SPDX-License-Identifier: BSD-3-Clause
// Frames that move from one method to another while a module still reads them, and peers that keep a way
// when they lose another.
#include "scripted.h"

#include <future>
#include <thread>

namespace moving_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

const wire::Bytes kNoFrame(8, std::byte{31}); // of a kind that there is not

/// Posts large messages on the first method, and lets the second take over for good.
struct Moved : Rig {
    Moved()
      : Rig({}, true, 1000) {
        first = &link_up(one);
        stream = stream_of(*first);
    }
    /// The peer breaks the rules on the first link; the second opens and learns that nothing had arrived.
    void take_over() {
        const auto said = expect_warning("a frame of an unknown kind");
        one.deliver(*first, kNoFrame);
        turns();
        second = &two.link();
        two.open(*second);
        turns();
        REQUIRE(two.sent(*second, Kind::replay_request).size() == 1);
        two.deliver(*second, control(Kind::replay_answer, stream, 0));
        turns();
        REQUIRE(two.sent(*second, Kind::request).size() == 1);
        REQUIRE(second->posted.size() == 1);
    }
    void end_second() {
        two.end_posted(*second);
        two.deliver(*second, control(Kind::ack, stream_of(*second), 1));
        turns();
    }

    ScriptedMethod::Link* first = nullptr;
    ScriptedMethod::Link* second = nullptr;
    std::uint32_t stream = 0;
};

} // namespace

TEST_CASE("a frame that two modules read lives until the last of them has let go") {
    Moved rig;
    std::weak_ptr<const void> bytes;
    {
        Message message(5000);
        message.pin = message.rest;
        bytes = message.rest;
        rig.inside([&] { CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok); });
    }
    REQUIRE(rig.first->posted.size() == 1);
    rig.take_over();
    CHECK(rig.first->given_up);
    SECTION("the new one first") {
        rig.end_second();
        CHECK_FALSE(bytes.expired());
        rig.one.end_posted(*rig.first);
        rig.turns();
    }
    SECTION("the old one first") {
        rig.one.end_posted(*rig.first);
        rig.turns();
        CHECK_FALSE(bytes.expired());
        rig.end_second();
    }
    CHECK(bytes.expired());
    CHECK(rig.heard.frames == 0);
}

TEST_CASE("what keeps the bytes of a frame ends under no lock, for that may unbind an object and send") {
    std::atomic<int> ended{0};
    std::atomic<int> locked{0};
    {
        Rig rig({}, true, 1000);
        ScriptedMethod::Link& link = rig.link_up(rig.one);
        Channel& channel = rig.channel(rig.one);
        {
            Message message(5000);
            message.pin =
                std::shared_ptr<const void>(message.rest.get(), [&, rest = message.rest](const void*) {
                    const auto other =
                        std::async(std::launch::async, [&] { return channel.condition().over; });
                    if (other.wait_for(10s) != std::future_status::ready) ++locked;
                    ++ended;
                });
            rig.inside([&] { CHECK(channel.send(message, nullptr) == Status::ok); });
        }
        REQUIRE(link.posted.size() == 1);
        rig.one.end_posted(link);
        rig.turns();
        CHECK(ended == 0); // kept until it is acknowledged
        SECTION("acknowledged") {
            rig.one.deliver(link, Rig::control(Kind::ack, rig.stream_of(link), 1));
            rig.turns();
            CHECK(ended == 1);
        }
        SECTION("at the end of the context") {}
    }
    CHECK(ended == 1);
    CHECK(locked == 0);
}

TEST_CASE("a sender whose memory two modules read waits for both") {
    Moved rig;
    // The hello of the peer: frames above 64 KiB wait for it.
    rig.one.deliver(*rig.first, rig.hello(1));
    rig.turns();
    std::atomic<bool> left{false};
    Status status = Status::again; // read after the join
    std::thread sender([&] {
        Message message(100'000);
        status = rig.channel(rig.one).send(message, nullptr);
        left = true;
    });
    // The sender's own turns post it.
    REQUIRE(eventually(20s, [&] { return rig.one.sent(*rig.first, Kind::request).size() == 1; }));
    // From here on one thread at a time looks at the rig: the sender polls, this one asks for steps.
    std::atomic<int> done{0};
    const auto step = [&](ScriptedMethod& method, std::function<void()> f) {
        const int before = done;
        method.in_poll([&, f] {
            f();
            ++done;
        });
        REQUIRE(eventually(20s, [&] { return done > before; }));
    };
    const auto said = expect_warning("a frame of an unknown kind");
    rig.one.deliver(*rig.first, kNoFrame);
    REQUIRE(eventually(20s, [&] { return rig.two.links() == 1; }));
    ScriptedMethod::Link& second = rig.two.link();
    rig.two.open(second);
    REQUIRE(eventually(20s, [&] { return rig.two.sent(second, Kind::replay_request).size() == 1; }));
    rig.two.deliver(second, Rig::control(Kind::replay_answer, rig.stream, 0));
    REQUIRE(eventually(20s, [&] { return rig.two.sent(second, Kind::request).size() == 1; }));
    rig.two.end_posted(second);
    rig.two.deliver(second, Rig::control(Kind::ack, rig.stream_of(second), 1));
    for (int i = 0; i < 100; ++i) step(rig.two, [] {}); // turns in which the sender could leave
    CHECK_FALSE(left);
    rig.one.end_posted(*rig.first);
    sender.join();
    CHECK(status == Status::ok);
}

TEST_CASE("a broken link is given back before what it held leaves by another, also within one turn") {
    Moved rig;
    ScriptedMethod::Link& second = rig.link_up(rig.two); // for another pointer
    Message message(5000);
    rig.inside([&] { CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok); });
    bool given_up = false;
    rig.two.on_send = [&](ScriptedMethod::Link&, const wire::Bytes& frame) {
        if (wire::kind_of(frame) == Kind::request) given_up = rig.first->given_up;
    };
    const auto said = expect_warning("a frame of an unknown kind");
    rig.one.deliver(*rig.first, kNoFrame);
    rig.two.deliver(second, Rig::control(Kind::replay_answer, rig.stream, 0)); // a peer that answers at once
    rig.turns();
    REQUIRE(rig.two.sent(second, Kind::request).size() == 1);
    CHECK(given_up);
}

TEST_CASE("a method that fails where falling back is forbidden takes its own calls with it, and no others") {
    EndpointOptions options;
    options.fallback = Fallback::forbid;
    Rig rig(options);
    rig.heard.awaited = true;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    rig.link_up(rig.two);
    Channel& failing = rig.channel(rig.one);
    Channel& healthy = rig.channel(rig.two);
    rig.heard.calls.clear();
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    const bool told = GENERATE(true, false); // the peer was heard before: dialled at once, or after a pause
    if (told) rig.one.deliver(first, rig.hello(1));
    rig.one.lose(first);
    REQUIRE(eventually(20s, [&] {
        rig.turns();
        return failing.dead();
    }));
    REQUIRE(rig.heard.calls.size() == 1);
    CHECK(rig.heard.calls[0].via == &failing);
    CHECK(rig.heard.calls[0].which == WhichCalls::all);
    CHECK(rig.heard.calls[0].status == Status::peer_lost);
    CHECK(rig.heard.peers.empty());
    CHECK(rig.peer->presence() == Presence::here);
    Message message(100);
    CHECK(healthy.send(message, nullptr) == Status::ok);
    // With its last way the peer is lost.
    rig.two.connect = PLEXUS_BAD_ARGUMENT;
    rig.two.lose(rig.two.link());
    REQUIRE(eventually(20s, [&] {
        rig.turns();
        return healthy.dead();
    }));
    CHECK(rig.heard.peers == std::vector<Status>{Status::peer_lost});
    CHECK(rig.heard.frames == 1);
}

TEST_CASE("a peer whose last link is one that only brought is lost, and the program hears it once") {
    Rig rig;
    ScriptedMethod::Link& out = rig.link_up(rig.one);
    rig.one.accept(Rig::id(2)); // both had dialled: this link only brings
    rig.turns();
    ScriptedMethod::Link& brings = rig.one.link();
    ScriptedMethod::Link& other = rig.link_up(rig.two);
    REQUIRE_FALSE(brings.given_up);
    const bool ended = GENERATE(true, false); // the module knows that the process has ended, or does not
    const int status = ended ? PLEXUS_PEER_LOST : PLEXUS_LINK_LOST;
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    rig.two.connect = PLEXUS_BAD_ARGUMENT;
    rig.two.lose(other, status);
    rig.one.lose(out, status);
    rig.turns();
    CHECK(rig.heard.events.empty()); // a link is open
    CHECK(rig.peer->presence() == Presence::here);
    rig.one.lose(brings, status);
    REQUIRE(eventually(20s, [&] {
        rig.turns();
        return !rig.heard.events.empty();
    }));
    rig.turns();
    CHECK(rig.heard.events == std::vector<Status>{Status::peer_lost});
    CHECK(rig.peer->presence() == Presence::lost);
}

TEST_CASE("a peer that no method reaches any more is lost also if nothing waits for it") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    SECTION("the other method does not reach it") {
        rig.two.connect = PLEXUS_BAD_ARGUMENT;
        rig.one.lose(link);
        REQUIRE(eventually(20s, [&] {
            rig.turns();
            return !rig.heard.events.empty();
        }));
        CHECK(rig.heard.events == std::vector<Status>{Status::peer_lost});
    }
    SECTION("the other method does") {
        rig.two.opens = true;
        rig.one.lose(link);
        REQUIRE(eventually(20s, [&] {
            rig.turns();
            return rig.two.links() == 1;
        }));
        rig.turns();
        CHECK(rig.heard.events.empty());
        CHECK(rig.peer->presence() == Presence::here);
    }
}

} // namespace moving_test
