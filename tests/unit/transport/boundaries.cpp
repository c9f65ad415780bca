// SPDX-License-Identifier: BSD-3-Clause
// What leaves by a method with a boundary, and when: nothing of the program's before the peer itself has said
// where it is.
#include "scripted.h"
#include "transport/reach.h"

namespace boundaries_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

EndpointOptions at_kiel() {
    EndpointOptions options;
    options.place = {"kiel", {1}};
    return options;
}

/// As a handler sends, which never waits.
void send_inside(Rig& rig, const ScriptedMethod& by) {
    rig.inside([&] {
        Message message(100);
        CHECK(rig.channel(by).send(message, nullptr) == Status::ok);
    });
}

/// A peer that reaches this context by one method, which asks nothing, and by a second, whose module does not
/// believe that the peer is called captain.
struct NamedPeer {
    NamedPeer() { rig.two.disbelieved = "captain"; }
    /// A link of that method, and the peer's hello on it.
    ScriptedMethod::Link& greet(ScriptedMethod& by, std::uint32_t stream) {
        ScriptedMethod::Link& made = rig.link_up(by);
        by.deliver(made, rig.hello(stream));
        rig.turns();
        return made;
    }
    /// The peer declares a request by that method, with this name of its own.
    void say(const ScriptedMethod& by, std::string_view name) {
        rig.inside([&] {
            for (Link* const link : rig.channel(by).open_links())
                rig.transport.demux().learn_name(*link, name);
        });
    }
    Rig rig;
};

bool has_way(Channel& channel) {
    return channel.on_way_out([](plexus_link* link, std::uint32_t) { return link != nullptr; });
}

} // namespace

TEST_CASE("by a method with a boundary only the hello leaves before the peer's own, and then the rest") {
    const bool fragile = GENERATE(true, false);
    CAPTURE(fragile);
    Rig rig(at_kiel(), fragile);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    send_inside(rig, rig.one);
    CHECK(rig.one.sent(link, Kind::hello).size() == 1);
    CHECK(link.sent.size() == 1);
    CHECK_FALSE(has_way(rig.channel(rig.one))); // for one-sided transfers, too
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    CHECK(rig.one.sent(link, Kind::request).size() == 1);
    CHECK(has_way(rig.channel(rig.one)));
}

TEST_CASE("by a method without a boundary nothing waits for the peer's hello") {
    Rig rig(at_kiel());
    ScriptedMethod::Link& link = rig.link_up(rig.two);
    send_inside(rig, rig.two);
    CHECK(rig.two.sent(link, Kind::request).size() == 1);
}

TEST_CASE("what waited leaves by another method if the peer is beyond the boundary") {
    const auto warning = expect_warning("no connection by one with context");
    Rig rig(at_kiel());
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    send_inside(rig, rig.one);
    rig.two.opens = true;
    rig.one.deliver(link, rig.hello_from("oslo", 1));
    rig.turns();
    CHECK(rig.one.sent(link, Kind::request).empty());
    CHECK(link.given_up);
    CHECK(warning.count() == 1);
    REQUIRE(rig.two.links() == 1);
    CHECK(rig.two.sent(rig.two.link(), Kind::request).size() == 1);
    const Endpoint& endpoint = rig.transport.endpoint();
    CHECK(endpoint.find_interface("one")->counts.refusals == 1);
    CHECK(endpoint.find_interface("two")->counts.fallbacks == 1);
}

TEST_CASE("a frame with its pointer's own boundary waits for the peer's hello, and ends if that forbids it") {
    const bool fragile = GENERATE(true, false);
    const bool beyond = GENERATE(true, false);
    CAPTURE(fragile, beyond);
    EndpointOptions options;
    options.place = {"kiel", {1}};
    Rig rig(options, fragile);
    ScriptedMethod::Link& link = rig.link_up(rig.two); // without a boundary in the file
    const method::Boundary site{method::Boundary::Kind::site, {}};
    const wire::Declare declare{7, 1, "boundaries.request", {}};
    rig.inside([&] {
        Message message(100);
        message.stays = true;
        message.within = &site;
        message.declare = &declare;
        CHECK(rig.channel(rig.two).send(message, nullptr) == Status::ok);
    });
    CHECK(link.sent.size() == 1); // the hello
    rig.two.deliver(link, beyond ? rig.hello_from("oslo", 1) : rig.hello(1));
    rig.turns();
    CHECK(rig.two.sent(link, Kind::request).size() == (beyond ? 0 : 1));
    CHECK(rig.heard.frames == (beyond ? 1 : 0));
    send_inside(rig, rig.two); // a plain one is not held up
    CHECK(rig.two.sent(link, Kind::request).size() == (beyond ? 1 : 2));
    Message late(100); // chosen before the hello, sent after it
    late.within = &site;
    rig.inside([&] { CHECK(rig.channel(rig.two).send(late, nullptr) == Status::link_lost); });
}

TEST_CASE("a frame that stays never leaves by the method that takes over, and what goes with it does") {
    const std::uint64_t arrived = GENERATE(0, 1, 2);
    CAPTURE(arrived);
    const auto warning = expect_warning("a frame of an unknown kind");
    Rig rig({}, true);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    const auto send_one = [&](bool stays, std::size_t size) {
        rig.inside([&] {
            Message message(size);
            message.stays = stays;
            CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
        });
    };
    send_one(true, 100);
    send_one(false, 200);
    const std::uint32_t stream = rig.stream_of(link);
    rig.two.opens = true;
    rig.one.deliver(link, wire::Bytes(8, std::byte{31})); // of a kind that there is not
    rig.turns();
    REQUIRE(rig.two.links() == 1);
    ScriptedMethod::Link& second = rig.two.link();
    rig.two.deliver(second, rig.hello(2));
    rig.two.deliver(second, Rig::control(Kind::replay_answer, stream, arrived));
    rig.turns();
    const auto sent = rig.two.sent(second, Kind::request);
    CHECK(sent.size() == (arrived < 2 ? 1 : 0));
    for (const wire::Bytes& each : sent) CHECK(each.size() == 200);
    CHECK(rig.heard.frames == (arrived == 0 ? 1 : 0));
    rig.two.deliver(second, Rig::control(Kind::ack, rig.stream_of(second), sent.size()));
    rig.turns();
    CHECK(rig.channel(rig.two).settle()); // all are accounted for
    CHECK(warning.count() == 1);
}

TEST_CASE("a peer that connects over a boundary is not waited for, and is told apart from one that is lost") {
    const auto warning = expect_warning("no connection by one with context");
    Rig rig(at_kiel(), true, UINT64_MAX, 1);
    rig.one.accept(Rig::id(2));
    rig.turns();
    send_inside(rig, rig.one);
    rig.one.deliver(rig.one.link(), rig.hello_from("oslo", 1));
    rig.turns();
    CHECK(rig.one.sent(rig.one.link(), Kind::request).empty());
    CHECK(rig.heard.frames == 1);
    CHECK(rig.heard.peers == std::vector{Status::no_method});
    CHECK(warning.count() == 1);
}

TEST_CASE("a connection that is made anew counts as a repair, and what is sent again counts again") {
    Rig rig;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    rig.one.deliver(first, rig.hello(1));
    rig.turns();
    send_inside(rig, rig.one);
    const Interface& one = *rig.transport.endpoint().find_interface("one");
    CHECK(traffic_of(rig.transport.endpoint(), one).sent.messages == 1);
    CHECK(traffic_of(rig.transport.endpoint(), one).sent.bytes == 100);
    const std::uint32_t stream = rig.stream_of(first);
    rig.one.opens = true;
    rig.one.lose(first);
    rig.turns();
    REQUIRE(rig.one.links() == 2);
    rig.one.deliver(rig.one.link(), rig.hello(2));
    rig.one.deliver(rig.one.link(), Rig::control(Kind::replay_answer, stream, 0)); // nothing had arrived
    rig.turns();
    CHECK(one.counts.repairs == 1);
    CHECK(traffic_of(rig.transport.endpoint(), one).sent.messages == 2);
    CHECK(traffic_of(rig.transport.endpoint(), one).sent.bytes == 200);
}

TEST_CASE("where a peer is may be known by another method before a link is open") {
    const auto warning = expect_warning("no connection by one with context");
    Rig rig(at_kiel());
    rig.channel(rig.one).reconnect();
    ScriptedMethod::Link& dial = rig.one.link();
    const bool opens_first = GENERATE(true, false);
    CAPTURE(opens_first);
    if (opens_first) rig.one.open(dial);
    rig.turns();
    send_inside(rig, rig.one);
    ScriptedMethod::Link& other = rig.link_up(rig.two);
    rig.two.deliver(other, rig.hello_from("oslo", 2));
    rig.turns();
    if (!opens_first) rig.one.open(dial);
    rig.turns();
    CHECK(rig.one.sent(dial, Kind::request).empty());
    CHECK(dial.given_up);
    CHECK(rig.two.sent(other, Kind::request).size() == 1);
    CHECK(warning.count() == 1);
}

TEST_CASE("a peer whose word a link's module does not believe is refused, at once if it comes by it again") {
    const auto warning = expect_warning("no connection by one with context");
    Rig rig;
    rig.one.disbelieved = "kiel";
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello_from("kiel", 1));
    wire::Bytes request(100);
    wire::encode(wire::RequestHeader{}, request.data());
    rig.one.deliver(link, request);
    rig.turns();
    CHECK(link.given_up);
    CHECK(rig.delivered == 0);
    CHECK(rig.peer->said_table()->table.place().site.empty()); // as the rig has said of it
    REQUIRE(warning.count() == 1);
    CHECK(warning.lines()[0].find("it says that it is at site kiel: its certificate is another's") !=
          std::string::npos);
    rig.one.accept(rig.peer->id);
    rig.turns();
    CHECK(rig.one.link().given_up);
    CHECK(rig.one.link().sent.empty());
    rig.two.accept(rig.peer->id);
    rig.turns();
    CHECK_FALSE(rig.two.link().given_up);
    rig.two.deliver(rig.two.link(), rig.hello_from("kiel", 2));
    rig.turns();
    CHECK(rig.peer->said_table()->table.place().site == "kiel");
    CHECK(rig.transport.endpoint().find_interface("one")->counts.refusals == 2);
}

TEST_CASE("a peer that was not believed is asked again after a while, as its certificate may be another") {
    const auto warning = expect_warning("no connection by one with context");
    transport::EndpointOptions options;
    options.shut_out_for = std::chrono::milliseconds(1);
    Rig rig(options);
    rig.one.disbelieved = "kiel";
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello_from("kiel", 1));
    rig.turns();
    CHECK(link.given_up);
    rig.one.disbelieved = "oslo";
    CHECK(eventually(std::chrono::seconds(20), [&] {
        rig.one.accept(rig.peer->id);
        rig.turns();
        return !rig.one.link().given_up;
    }));
    rig.one.deliver(rig.one.link(), rig.hello_from("kiel", 2));
    rig.turns();
    CHECK(rig.peer->said_table()->table.place().site == "kiel");
}

TEST_CASE("a link that has ended before its module could judge the peer is lost, and the peer comes again") {
    Rig rig;
    rig.one.disbelieved = "kiel";
    rig.one.disbelief = PLEXUS_LINK_LOST;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello_from("kiel", 1));
    rig.turns();
    CHECK(link.given_up);
    CHECK(rig.peer->said_table()->table.place().site.empty());
    rig.one.disbelieved.clear();
    rig.one.accept(rig.peer->id);
    rig.turns();
    CHECK_FALSE(rig.one.link().given_up);
    rig.one.deliver(rig.one.link(), rig.hello_from("kiel", 2));
    rig.turns();
    CHECK(rig.peer->said_table()->table.place().site == "kiel");
    CHECK(rig.transport.endpoint().find_interface("one")->counts.refusals == 0);
}

TEST_CASE("the module of a link that comes later is asked about a name that was said by another method") {
    const auto warning = expect_warning("no connection by two with context");
    NamedPeer it;
    ScriptedMethod::Link& plain = it.greet(it.rig.one, 1);
    it.say(it.rig.one, "captain");
    CHECK(it.rig.peer->name() == "captain");
    ScriptedMethod::Link& asked = it.rig.link_up(it.rig.two);
    it.rig.two.deliver(asked, it.rig.hello(2));
    wire::Bytes request(100);
    wire::encode(wire::RequestHeader{}, request.data());
    it.rig.two.deliver(asked, request);
    it.rig.turns();
    CHECK(asked.given_up);
    CHECK_FALSE(plain.given_up);
    CHECK(it.rig.delivered == 0);
    REQUIRE(warning.count() == 1);
    CHECK(warning.lines()[0].find("it says that its name is captain: its certificate is another's") !=
          std::string::npos);
}

TEST_CASE(
    "a name that another open link's module does not believe is not taken, and the link that said it ends") {
    const auto warning = expect_warning("no connection by one with context");
    NamedPeer it;
    ScriptedMethod::Link& plain = it.greet(it.rig.one, 1);
    ScriptedMethod::Link& asked = it.greet(it.rig.two, 2);
    it.say(it.rig.one, "captain");
    CHECK(it.rig.peer->name().empty());
    CHECK(plain.given_up);
    CHECK_FALSE(asked.given_up);
    REQUIRE(warning.count() == 1);
    CHECK(warning.lines()[0].find("(says the method of its other connection, two)") != std::string::npos);
}

TEST_CASE("a name that all modules believe stays, whatever the peer says by another link") {
    NamedPeer it;
    ScriptedMethod::Link& plain = it.greet(it.rig.one, 1);
    ScriptedMethod::Link& asked = it.greet(it.rig.two, 2);
    it.say(it.rig.two, "mate");
    it.say(it.rig.one, "captain");
    CHECK(it.rig.peer->name() == "mate");
    CHECK_FALSE(plain.given_up);
    CHECK_FALSE(asked.given_up);
}

TEST_CASE("a peer that is believed, or says nothing of itself, keeps its link") {
    const std::string site = GENERATE("", "oslo");
    Rig rig;
    rig.one.disbelieved = GENERATE("kiel", "");
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello_from(site, 1));
    rig.turns();
    CHECK_FALSE(link.given_up);
    CHECK(rig.peer->said_table() != nullptr);
}

} // namespace boundaries_test
