// SPDX-License-Identifier: BSD-3-Clause
// What a peer says of itself, of streams and of contexts, in an order that no honest peer gives or after a
// time in which one side has forgotten the other.
#include "scripted.h"
#include "transport/remote_key.h"
#include "transport/route.h"

namespace claims_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

/// What the peer has dropped since it heard this context name `memory`, or since it knows this one.
wire::Bytes dropped_frame(wire::Dropped what, std::uint64_t memory, std::uint64_t count) {
    wire::Bytes bytes(wire::DroppedFrame::kBytes);
    wire::encode(wire::DroppedFrame{what, memory, count}, bytes.data());
    return bytes;
}
wire::Bytes dropped_frame(const Rig& rig, wire::Dropped what, std::uint64_t count) {
    return dropped_frame(what, rig.peer->relation.memory, count);
}

/// What has left by a link of that kind.
std::vector<wire::DroppedFrame> told_of_dropped(ScriptedMethod& by, const ScriptedMethod::Link& on) {
    std::vector<wire::DroppedFrame> all;
    for (const wire::Bytes& each : by.sent(on, Kind::dropped))
        all.push_back(wire::decode_dropped(wire::View(each)).value());
    return all;
}

wire::Bytes request_of(std::size_t size) {
    wire::Bytes bytes(size);
    wire::encode(wire::RequestHeader{}, bytes.data());
    return bytes;
}

/// A hello that also says what the peer remembers.
wire::Bytes hello_with(const Rig& rig, std::uint32_t stream, std::uint64_t memory, std::uint64_t known,
                       std::uint64_t dropped = 0) {
    const auto table = rig.peer->owners_table();
    wire::Hello said;
    said.stream = stream;
    said.max_message = 1u << 30;
    said.memory = memory;
    said.known_memory = known;
    said.dropped = dropped;
    said.table = table->encoded;
    return wire::encode(said);
}

std::uint64_t answer_about(Rig& rig, ScriptedMethod::Link& link, std::uint32_t stream) {
    const std::size_t before = rig.one.sent(link, Kind::replay_answer).size();
    rig.one.deliver(link, Rig::control(Kind::replay_request, stream, 0));
    rig.turns();
    const auto answers = rig.one.sent(link, Kind::replay_answer);
    REQUIRE(answers.size() == before + 1);
    return wire::decode_stream(wire::View(answers.back()))->count;
}

} // namespace

TEST_CASE("a frame before the peer's hello ends the link, and is not delivered") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    const auto said = expect_warning("a frame before the hello");
    rig.one.deliver(link, request_of(100));
    rig.turns();
    CHECK(said.count() == 1);
    CHECK(rig.delivered == 0);
    CHECK(link.given_up);
}

TEST_CASE("answers that a peer has dropped are told once, also if it says so again") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    const auto told_after = [&](std::uint64_t count) {
        rig.heard.calls.clear();
        rig.one.deliver(link, dropped_frame(rig, wire::Dropped::answers, count));
        rig.turns();
        return rig.heard.calls.size();
    };
    CHECK(told_after(2) > 0);
    CHECK(told_after(2) == 0);
    CHECK(told_after(3) > 0);
}

TEST_CASE("reports that a peer has dropped are told to the program once, and end no call") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, hello_with(rig, 1, 77, 0));
    rig.turns();
    rig.heard.calls.clear();
    const auto told_after = [&](std::uint64_t count) {
        rig.heard.errors.clear();
        rig.one.deliver(link, dropped_frame(rig, wire::Dropped::reports, count));
        rig.turns();
        return rig.heard.errors;
    };
    const std::vector<Status> once{Status::message_lost};
    CHECK(told_after(2) == once);
    CHECK(told_after(2).empty());
    CHECK(told_after(3) == once);
    CHECK(rig.heard.calls.empty());
    // A peer that has forgotten this context counts from the start.
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    rig.two.deliver(second, hello_with(rig, 2, 78, 0));
    rig.two.deliver(second, dropped_frame(rig, wire::Dropped::reports, 1));
    rig.heard.errors.clear();
    rig.turns();
    CHECK(rig.heard.errors == once);
}

TEST_CASE("a report that finds no room is counted and told as one, not as an answer") {
    EndpointOptions options;
    options.handler_queue = 64 * 1024;
    Rig rig(options);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    Endpoint& endpoint = rig.transport.endpoint();
    rig.one.answer = PLEXUS_AGAIN;
    std::uint64_t refused = 0;
    const auto say = [&](std::size_t bytes) {
        wire::Bytes report(bytes);
        wire::encode(wire::ReportHeader{static_cast<std::uint16_t>(Status::closed), 1}, report.data());
        WholeFrame frame(report);
        frame.from_reserve = true;
        std::string why;
        return endpoint.answer(rig.channel(rig.one), frame, &why);
    };
    rig.inside([&] {
        for (int i = 0; i < 20; ++i)
            refused += say(1 << 20) == Status::ok ? 0 : 1; // the reserve is full then
    });
    CHECK(refused > 0);
    CHECK(rig.peer->dropped.now().reports == refused);
    CHECK(rig.peer->dropped.now().answers == 0);
    rig.one.answer = PLEXUS_OK;
    rig.one.writable(link);
    rig.turns();
    const auto check_told = [&](ScriptedMethod& by, const ScriptedMethod::Link& on) {
        const auto told = told_of_dropped(by, on);
        REQUIRE(told.size() == 1);
        CHECK(told[0].what == wire::Dropped::reports);
        CHECK(told[0].count == refused);
    };
    check_told(rig.one, link);
    check_told(rig.two, rig.link_up(rig.two)); // in case the peer did not hear that
}

TEST_CASE("what a peer dropped before this context forgot it is not told again") {
    Rig rig;
    const std::uint64_t former = rig.peer->relation.memory + 2;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.heard.calls.clear();
    rig.one.deliver(link, hello_with(rig, 1, 77, former, 5));
    for (const auto what : {wire::Dropped::answers, wire::Dropped::reports})
        rig.one.deliver(link, dropped_frame(what, former, 6));
    rig.turns();
    CHECK(rig.heard.calls.empty());
    CHECK(rig.heard.errors.empty());
    // Of the same link, after the peer has heard this context.
    rig.one.deliver(link, dropped_frame(rig, wire::Dropped::reports, 1));
    rig.turns();
    CHECK(rig.heard.errors == std::vector<Status>{Status::message_lost});
    CHECK(rig.heard.calls.empty());
    rig.one.deliver(link, dropped_frame(rig, wire::Dropped::answers, 1));
    rig.turns();
    CHECK_FALSE(rig.heard.calls.empty());
}

TEST_CASE("a peer that has forgotten this context is told of what was dropped since") {
    Rig rig;
    Endpoint& endpoint = rig.transport.endpoint();
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    rig.one.deliver(first, hello_with(rig, 1, 77, 0));
    rig.turns();
    endpoint.note_dropped(*rig.peer, wire::Dropped::answers, 2);
    endpoint.note_dropped(*rig.peer, wire::Dropped::reports, 3);
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    const auto said = rig.two.sent(second, Kind::hello);
    REQUIRE(said.size() == 1);
    const auto hello = wire::decode_hello(wire::View(said.front()));
    CHECK(hello->known_memory == 77); // all that is known so far
    CHECK(hello->dropped == 2);
    rig.two.deliver(second, hello_with(rig, 2, 78, 0));
    rig.turns();
    const std::size_t before = told_of_dropped(rig.two, second).size();
    endpoint.note_dropped(*rig.peer, wire::Dropped::reports);
    rig.turns();
    const auto told = told_of_dropped(rig.two, second);
    REQUIRE(told.size() == before + 1);
    CHECK(told.back().what == wire::Dropped::reports);
    CHECK(told.back().memory == 78);
    CHECK(told.back().count == 1);
}

TEST_CASE("a report that was accepted and will not arrive is told of") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    rig.one.answer = PLEXUS_TOO_LARGE;
    rig.inside([&] {
        wire::Bytes report(wire::ReportHeader::kBytes);
        wire::encode(wire::ReportHeader{static_cast<std::uint16_t>(Status::closed), 1}, report.data());
        WholeFrame frame(report);
        frame.from_reserve = true;
        std::string why;
        CHECK(rig.transport.endpoint().answer(rig.channel(rig.one), frame, &why) == Status::ok);
    });
    CHECK(rig.peer->dropped.now().reports == 1);
    CHECK(rig.peer->dropped.now().answers == 0);
}

TEST_CASE("a peer that has forgotten this context since its last hello answers no call of before") {
    const bool forgot = GENERATE(true, false);
    CAPTURE(forgot);
    Rig rig;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    rig.one.deliver(first, hello_with(rig, 1, 77, 0));
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    rig.turns();
    rig.heard.calls.clear();
    rig.two.deliver(second, hello_with(rig, 2, forgot ? 78 : 77, 0));
    rig.turns();
    CHECK(rig.heard.calls.size() == (forgot ? 2 : 0)); // of both channels
    for (const Recorder::Ended& each : rig.heard.calls) CHECK(each.status == Status::message_lost);
}

TEST_CASE("a question about a stream of before this context forgot its peer is answered so") {
    constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
    const bool forgotten = GENERATE(true, false);
    CAPTURE(forgotten);
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    const std::uint64_t memory = rig.peer->relation.memory;
    rig.one.deliver(link, hello_with(rig, 9, 5, forgotten ? memory + 1 : memory));
    rig.turns();
    CHECK(answer_about(rig, link, 4) == (forgotten ? kUnknown : 0));
}

TEST_CASE("a large frame whose head has an odd length is delivered where its numbers can be read") {
    const std::size_t odd = GENERATE(0u, 1u, 4u, 7u);
    CAPTURE(odd);
    struct Seen {
        std::vector<wire::Bytes> frames;
        bool aligned = true;
    } seen;
    Rig rig;
    Sink sink;
    sink.self = &seen;
    sink.take = [](void* self, transport::Link&, wire::View frame, Buffer*) {
        auto& all = *static_cast<Seen*>(self);
        all.frames.emplace_back(frame.begin(), frame.end());
        all.aligned = all.aligned && reinterpret_cast<std::uintptr_t>(frame.data()) % 8 == 0;
    };
    rig.transport.demux().on(Kind::data, sink);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(9));
    wire::Bytes head(24 + odd, std::byte{3});
    head[0] = static_cast<std::byte>(Kind::data);
    head[1] = std::byte{0};
    std::int32_t said = PLEXUS_LINK_LOST;
    rig.one.place(link, head, 5'000, &said);
    rig.one.placed(link);
    rig.turns();
    CHECK(said == PLEXUS_OK);
    REQUIRE(seen.frames.size() == 1);
    CHECK(seen.frames[0].size() == head.size() + 5'000);
    CHECK(std::equal(head.begin(), head.end(), seen.frames[0].begin()));
    CHECK(seen.aligned);
}

TEST_CASE("a peer that says goodbye on one link is there until it has said so on all") {
    Rig rig;
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    rig.one.deliver(first, rig.hello(1));
    rig.two.deliver(second, rig.hello(2));
    rig.one.deliver(first, wire::encode_goodbye());
    rig.turns();
    CHECK(rig.peer->presence() == Presence::here);
    CHECK(rig.heard.peers.empty());
    rig.two.deliver(second, wire::encode_goodbye());
    rig.turns();
    CHECK(rig.peer->presence() == Presence::gone);
    CHECK(rig.heard.peers == std::vector<Status>{Status::peer_lost});
}

TEST_CASE("the tables that a sender need not tell again are those that this context still knows") {
    Rig rig;
    ScriptedMethod::Link& scripted = rig.link_up(rig.one);
    rig.one.deliver(scripted, rig.hello(1));
    rig.turns();
    auto& link = *static_cast<transport::Link*>(scripted.cookie);
    const auto owner = [](std::uint16_t number) {
        ContextId made;
        made.bytes.fill(0xee);
        made.bytes[0] = static_cast<std::uint8_t>(number);
        made.bytes[1] = static_cast<std::uint8_t>(number >> 8);
        return made;
    };
    const auto knows = [&](const ContextId& id) {
        const auto all = rig.transport.endpoint().peers();
        return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each->id == id; });
    };
    const DescriptorTable table = rig.peer->owners_table()->table;
    const auto learn = [&](std::uint16_t number) {
        rig.inside([&] { rig.transport.demux().learn_table(link, owner(number), table); });
    };
    const auto tables = static_cast<std::uint16_t>(Introductions::kMostTables);
    for (std::uint16_t i = 0; i <= tables; ++i) learn(i);
    CHECK(knows(owner(0))); // the sender may still refer to it without a word
    for (std::uint16_t i = 1; i <= 2 * tables; ++i) learn(static_cast<std::uint16_t>(1000 + i));
    CHECK_FALSE(knows(owner(0))); // and what nobody can refer to is forgotten
}

TEST_CASE("a peer that somebody holds is not forgotten") {
    Rig rig;
    Endpoint& endpoint = rig.transport.endpoint();
    auto peer = endpoint.peer(Rig::id(9));
    auto held = peer;
    CHECK_FALSE(endpoint.forget(peer));
    CHECK(endpoint.peer(Rig::id(9)) == peer);
    held.reset();
    CHECK(endpoint.forget(peer));
    CHECK(endpoint.peer(Rig::id(9)) != peer);
}

TEST_CASE("a key of a former link is not given back by the link that took its place") {
    static int detached; // a module's function knows nothing of the test
    detached = 0;
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    Channel& channel = rig.channel(rig.one);
    channel.interface().ops.detach = [](plexus_link*, plexus_remote_key*) { ++detached; };
    const std::uint32_t stream = rig.stream_of(link);
    transport::detach(channel, {stream - 1, nullptr});
    CHECK(detached == 0);
    transport::detach(channel, {stream, nullptr});
    CHECK(detached == 1);
}

TEST_CASE("rows that differ by a parameter have channels of their own") {
    Rig rig;
    Endpoint& endpoint = rig.transport.endpoint();
    Descriptor row = rig.peer->owners_table()->table[0];
    Channel* const plain = &endpoint.channel(*rig.peer, row);
    row.parameters = {{"sndbuf", "1 MiB"}};
    Channel* const large = &endpoint.channel(*rig.peer, row);
    CHECK(large != plain);
    CHECK(&endpoint.channel(*rig.peer, row) == large);
    row.parameters = {};
    CHECK(&endpoint.channel(*rig.peer, row) == plain);
}

TEST_CASE("a policy that names a row which does not lead there, or none that there is, reaches nobody") {
    const std::size_t named = GENERATE(0u, 1u, 2u);
    CAPTURE(named);
    Rig rig;
    rig.two.opens = true;
    DescriptorTable table;
    table.push_back({"one", {std::byte{9}}, {}}); // of another network
    table.push_back(rig.peer->owners_table()->table[1]);
    detail::Route route(nullptr, rig.transport.endpoint(), rig.peer, KnownTable::make(table));
    route.set_policy([&](const std::vector<RowFacts>&) { return std::optional<std::size_t>(named); });
    rig.inside([&] { // where nobody waits for a link
        Message message(100);
        std::string why;
        CHECK(route.send(message, &why) == (named == 1 ? Status::ok : Status::no_method));
    });
    CHECK(rig.one.links() == 0);
}

} // namespace claims_test
