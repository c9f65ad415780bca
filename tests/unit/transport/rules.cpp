// SPDX-License-Identifier: BSD-3-Clause
// Rules that a link's two ends keep: what is told anew on a new link, what is refused and still counted,
// when a method is tried again.
#include "method/list.h"
#include "scripted.h"
#include "transport/route.h"

#include <thread>

namespace rules_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

wire::Bytes request_of(std::size_t size) {
    wire::Bytes bytes(size);
    wire::encode(wire::RequestHeader{}, bytes.data());
    return bytes;
}

} // namespace

TEST_CASE("what was introduced on a link that broke is introduced again on the next") {
    const bool fragile = GENERATE(true, false);
    CAPTURE(fragile);
    Rig rig({}, fragile);
    const wire::Declare declare{7, 1, "rules.request", {}};
    const auto send = [&] {
        Message message(100);
        message.declare = &declare;
        CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
    };
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    rig.one.deliver(first, rig.hello(1));
    rig.turns();
    send();
    send();
    CHECK(rig.one.sent(first, Kind::declare).size() == 1);
    CHECK(rig.one.sent(first, Kind::request).size() == 2);
    rig.one.deliver(first, Rig::control(Kind::ack, rig.stream_of(first), 3));
    rig.one.opens = true;
    rig.one.lose(first);
    rig.turns();
    REQUIRE(rig.one.links() == 2);
    ScriptedMethod::Link& second = rig.one.link();
    send();
    CHECK(rig.one.sent(second, Kind::declare).size() == 1);
    CHECK(rig.one.sent(second, Kind::request).size() == 1);
}

TEST_CASE("a message that is larger than this context takes is refused, counted and acknowledged at once") {
    EndpointOptions options;
    options.max_message = 1000;
    Rig rig(options);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(9));
    rig.turns();
    const auto acks = [&] { return rig.one.sent(link, Kind::ack); };
    SECTION("in one piece") {
        const auto start = std::chrono::steady_clock::now();
        rig.one.deliver(link, request_of(1001));
        rig.scheduler.progress();
        // It is not urgent; but after 50 ms of somebody else's on this core it is due.
        if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(40)) CHECK(acks().empty());
    }
    SECTION("in place") { // its sender may be waiting
        std::int32_t said = PLEXUS_OK;
        rig.one.place(link, request_of(wire::RequestHeader::kBytes), 1000, &said);
        rig.scheduler.progress();
        CHECK(said == PLEXUS_TOO_LARGE);
        REQUIRE(acks().size() == 1);
        CHECK(wire::decode_stream(wire::View(acks()[0]))->count == 1);
    }
    CHECK(rig.heard.errors == std::vector<Status>{Status::too_large});
    CHECK(rig.delivered == 0);
    wire::Bytes next = request_of(1000);
    next[1] |= std::byte{wire::kAckNow};
    rig.one.deliver(link, next);
    rig.turns();
    CHECK(rig.delivered == 1);
    REQUIRE_FALSE(acks().empty());
    CHECK(wire::decode_stream(wire::View(acks().back()))->count == 2);
    CHECK_FALSE(link.given_up);
}

TEST_CASE("a peer of another release is turned away, and the program hears of it") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    const auto said = expect_warning("another version of the wire format");
    rig.one.deliver(link, rig.hello(9, wire::kVersion + 1));
    rig.one.deliver(link, request_of(100));
    rig.turns();
    CHECK(said.count() == 1);
    CHECK(rig.heard.errors == std::vector<Status>{Status::unsupported});
    CHECK(rig.delivered == 0);
    CHECK(link.given_up);
}

TEST_CASE("an acknowledgement of more than was sent acknowledges nothing") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    Message message(100);
    CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
    const auto at_stake = [&] { return rig.channel(rig.one).condition().at_stake; };
    for (const std::uint64_t count : {0u, 2u, 1000u}) {
        rig.one.deliver(link, Rig::control(Kind::ack, rig.stream_of(link), count));
        rig.turns();
        CHECK(at_stake());
    }
    rig.one.deliver(link, Rig::control(Kind::ack, rig.stream_of(link), 1));
    rig.turns();
    CHECK_FALSE(at_stake());
}

TEST_CASE("a method that failed is tried again when a pointer asks for it by name") {
    Rig rig;
    rig.one.connect = PLEXUS_BAD_ARGUMENT;
    rig.one.opens = rig.two.opens = true;
    detail::Route route(nullptr, rig.transport.endpoint(), rig.peer, rig.peer->owners_table());
    const auto send = [&] {
        Message message(100);
        std::string why;
        const Status status = route.send(message, &why);
        INFO(why);
        CHECK(status == Status::ok);
    };
    send();
    CHECK(route.method() == "two");
    rig.one.connect = PLEXUS_OK; // the network is back
    send();
    CHECK(route.method() == "two"); // nobody asked
    route.pin(method::parse_list("one").value());
    rig.two.deliver(rig.two.link(), Rig::control(Kind::ack, rig.stream_of(rig.two.link()), 2));
    send();
    CHECK(route.method() == "one");
    CHECK(rig.one.sent(rig.one.link(), Kind::request).size() == 1);
}

TEST_CASE("a thread that waits for room is a reason to look for another method") {
    const bool fragile = GENERATE(true, false);
    EndpointOptions options;
    options.fallback = Fallback::warn;
    Rig rig(options, fragile);
    rig.two.opens = true;
    Channel& channel = rig.channel(rig.one);
    Status status = Status::ok; // read after the join
    std::thread sender([&] {
        Message message(100);
        status = channel.send(message, nullptr);
    });
    // Nothing is queued: the sender waits for the link to open, and polls meanwhile.
    REQUIRE(eventually(20s, [&] { return channel.condition().at_stake; }));
    const auto said = expect_warning("is to be reached by two from now on");
    rig.one.lose(rig.one.link());
    sender.join();
    CHECK(status == Status::link_lost); // its pointer chooses anew
    CHECK(said.count() == 1);
    CHECK(channel.successor() == &rig.channel(rig.two));
}

TEST_CASE("a hello that a module posts is sent once, and lives until the module has let go") {
    Rig rig({}, true, 20);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.writable(link);
    rig.turns();
    CHECK(rig.one.sent(link, Kind::hello).size() == 1);
    REQUIRE(link.posted.size() == 1);
    REQUIRE(link.posted.front() != nullptr);
    CHECK(rig.peer->account.used() > 20);
    rig.one.end_posted(link);
    rig.turns();
    CHECK(rig.peer->account.used() == 0);
}

} // namespace rules_test
