// SPDX-License-Identifier: BSD-3-Clause
// What waits in a channel: in which order it leaves, what is asked of the peer for it, and what becomes of it
// where nothing may be sent again.
#include "scripted.h"

#include <atomic>
#include <thread>

namespace queues_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

TEST_CASE("a sender that finds no room asks the peer to acknowledge what it has") {
    EndpointOptions options;
    options.retain = 4096;
    Rig rig(options);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(9));
    rig.turns();
    Channel& channel = rig.channel(rig.one);
    std::atomic<int> sent{0};
    std::thread sender([&] { // it polls while it waits
        for (int i = 0; i < 20; ++i) {
            Message message(1000);
            if (channel.send(message, nullptr) == Status::ok) ++sent;
        }
    });
    CHECK(eventually(5s, [&] { return !rig.one.sent(link, Kind::ack_request).empty(); }));
    std::size_t acked = 0;
    CHECK(eventually(20s, [&] {
        const std::size_t have = rig.one.sent(link, Kind::request).size();
        if (have != std::exchange(acked, have))
            rig.one.deliver(link, Rig::control(Kind::ack, rig.stream_of(link), have));
        return have == 20;
    }));
    sender.join();
    CHECK(sent == 20);
}

TEST_CASE("what has to be said first leaves first, also if the method had no room for it at once") {
    Rig rig;
    Channel& channel = rig.channel(rig.one);
    channel.reconnect();
    ScriptedMethod::Link& link = rig.one.link();
    rig.inside([&] {
        Message message(100);
        CHECK(channel.send(message, nullptr) == Status::ok); // queued
    });
    rig.one.refusals = 1; // the hello
    rig.one.open(link);
    rig.turns();
    rig.one.writable(link);
    rig.turns();
    REQUIRE(link.sent.size() == 2);
    CHECK(wire::kind_of(link.sent[0]) == Kind::hello);
    CHECK(wire::kind_of(link.sent[1]) == Kind::request);
}

TEST_CASE("a channel is drained when also its answers to questions have left") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(9));
    rig.turns();
    const auto drained = [&] {
        return rig.channel(rig.one).on_outbox([](const Outbox& outbox) { return outbox.drained(); });
    };
    CHECK(drained());
    rig.one.answer = PLEXUS_AGAIN;
    rig.one.deliver(link, Rig::control(Kind::replay_request, 4, 0));
    rig.turns();
    CHECK_FALSE(drained());
    rig.one.answer = PLEXUS_OK;
    rig.one.writable(link);
    rig.turns();
    CHECK(drained());
}

TEST_CASE("a frame that stays ends with its method if it has not left, and what goes with it moves") {
    const auto warning = expect_warning("a frame of an unknown kind");
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    rig.one.answer = PLEXUS_AGAIN;
    for (const bool stays : {true, false})
        rig.inside([&] {
            Message message(stays ? 100 : 200);
            message.stays = stays;
            CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
        });
    rig.two.opens = true;
    rig.one.deliver(link, wire::Bytes(8, std::byte{31})); // of a kind that there is not
    rig.turns();
    REQUIRE(rig.two.links() == 1);
    ScriptedMethod::Link& second = rig.two.link();
    rig.two.deliver(second, rig.hello(2));
    rig.turns();
    const auto sent = rig.two.sent(second, Kind::request);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].size() == 200);
    CHECK(rig.heard.frames == 1);
    CHECK(warning.count() == 1);
}

TEST_CASE("a frame for which the method has no memory is tried again after a pause") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    rig.one.answer = PLEXUS_MESSAGE_LOST;
    rig.inside([&] {
        for (const std::size_t bytes : {100u, 200u}) {
            Message message(bytes);
            CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
        }
    });
    CHECK(rig.one.sent(link, Kind::request).empty());
    rig.one.answer = PLEXUS_OK; // the module has nothing to say of that
    REQUIRE(eventually(20s, [&] {
        rig.turns();
        return rig.one.sent(link, Kind::request).size() == 2;
    }));
    CHECK(rig.one.sent(link, Kind::request)[0].size() == 100);
    CHECK(rig.heard.frames == 0);
}

TEST_CASE("a frame for which the method never has memory is given up, and those behind it leave") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    rig.one.answer = PLEXUS_MESSAGE_LOST;
    rig.inside([&] {
        for (const std::size_t bytes : {100u, 200u}) {
            Message message(bytes);
            CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
        }
    });
    int tries = 1;
    for (; rig.heard.frames == 0 && tries < 1000; ++tries) { // no pause between them
        rig.one.writable(link);
        rig.turns();
    }
    CHECK(tries > 50); // the pauses may have ended meanwhile
    CHECK(tries < 110);
    CHECK(rig.heard.frames == 1);
    rig.one.answer = PLEXUS_OK;
    rig.one.writable(link);
    rig.turns();
    const auto sent = rig.one.sent(link, Kind::request);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].size() == 200);
}

TEST_CASE("a frame that is too large for the method that takes over is given up, and those behind it leave") {
    const auto warning = expect_warning("a frame of an unknown kind");
    Rig rig;
    rig.transport.endpoint().find_interface("two")->limits.max_message = 150;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    rig.one.answer = PLEXUS_AGAIN;
    rig.inside([&] {
        for (const std::size_t bytes : {200u, 100u}) {
            Message message(bytes);
            CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
        }
    });
    rig.two.opens = true;
    rig.one.deliver(link, wire::Bytes(8, std::byte{31})); // of a kind that there is not
    rig.turns();
    REQUIRE(rig.two.links() == 1);
    ScriptedMethod::Link& second = rig.two.link();
    rig.two.deliver(second, rig.hello(2));
    rig.turns();
    const auto sent = rig.two.sent(second, Kind::request);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].size() == 100);
    CHECK(rig.heard.frames == 1);
    CHECK(warning.count() == 1);
}

TEST_CASE("where nothing is kept, calls that were sent on a link that breaks are said to be uncertain") {
    Rig rig({}, false);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    Message message(100);
    CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
    rig.one.lose(link);
    rig.turns();
    CHECK(rig.heard.uncertain == 1);
    CHECK(rig.heard.errors == std::vector<Status>{Status::message_lost});
}

} // namespace queues_test
