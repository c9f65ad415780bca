// SPDX-License-Identifier: BSD-3-Clause
// Frames whose method breaks, and the method that takes over after it: the third brings them on, each once
// and in order.
#include "scripted.h"

namespace successors_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

/// Three requests of different sizes, two of which left by the first method.
struct Successors : Rig {
    Successors()
      : Rig({}, true, UINT64_MAX, 3) {
        first = &link_up(one);
        send(one, 100);
        send(one, 101);
        REQUIRE(sizes(one, *first) == std::vector<std::size_t>{100, 101});
    }
    void send(const ScriptedMethod& method, std::size_t bytes) {
        Message message(bytes);
        inside([&] { CHECK(channel(method).send(message, nullptr) == Status::ok); });
    }
    /// The peer breaks the rules on a link. The one that `next` makes then is open.
    ScriptedMethod::Link& pass_on(ScriptedMethod& method, ScriptedMethod::Link& link, ScriptedMethod& next) {
        method.deliver(link, wire::Bytes(8, std::byte{31})); // of a kind that there is not
        turns();
        REQUIRE(next.links() == 1);
        next.open(next.link());
        turns();
        return next.link();
    }
    /// The peer says how many frames of a stream have arrived.
    void answer_replay(ScriptedMethod& method, ScriptedMethod::Link& link, std::uint32_t stream,
                       std::uint64_t arrived) {
        const auto asked = method.sent(link, Kind::replay_request);
        REQUIRE(asked.size() == 1);
        CHECK(wire::decode_stream(wire::View(asked.front()))->stream == stream);
        method.deliver(link, control(Kind::replay_answer, stream, arrived));
        turns();
    }
    static std::vector<std::size_t> sizes(const ScriptedMethod& method, const ScriptedMethod::Link& link) {
        std::vector<std::size_t> all;
        for (const wire::Bytes& each : method.sent(link, Kind::request)) all.push_back(each.size());
        return all;
    }
    ScriptedMethod::Link* first = nullptr;
};

} // namespace

TEST_CASE("frames that two methods in a row could not bring go on by a third, once and in order") {
    const auto said = expect_warning("a frame of an unknown kind");
    Successors rig;
    Channel& one = rig.channel(rig.one);
    ScriptedMethod::Link& second = rig.pass_on(rig.one, *rig.first, rig.two);
    ScriptedMethod::Link* third = nullptr;
    std::vector<std::size_t> due;
    SECTION("the second had not heard what had arrived") {
        rig.send(rig.two, 102); // behind the others
        CHECK(Successors::sizes(rig.two, second).empty());
        third = &rig.pass_on(rig.two, second, rig.three);
        CHECK(Successors::sizes(rig.three, *third).empty());
        rig.answer_replay(rig.three, *third, rig.stream_of(*rig.first), 1);
        due = {101, 102};
    }
    SECTION("the second had sent them all, and one arrived") {
        rig.answer_replay(rig.two, second, rig.stream_of(*rig.first), 0);
        rig.send(rig.two, 102);
        CHECK(Successors::sizes(rig.two, second) == std::vector<std::size_t>{100, 101, 102});
        third = &rig.pass_on(rig.two, second, rig.three);
        rig.answer_replay(rig.three, *third, rig.stream_of(second), 1);
        due = {101, 102};
    }
    SECTION("all had arrived by the first") {
        third = &rig.pass_on(rig.two, second, rig.three);
        rig.send(rig.three, 102);
        rig.answer_replay(rig.three, *third, rig.stream_of(*rig.first), 2);
        due = {102};
    }
    CHECK(Successors::sizes(rig.three, *third) == due);
    rig.three.deliver(*third, Rig::control(Kind::ack, rig.stream_of(*third), due.size()));
    rig.turns();
    Channel& last = rig.channel(rig.three);
    REQUIRE(one.successor() != nullptr);
    CHECK(one.successor()->successor() == &last);
    CHECK_FALSE(last.condition().at_stake);
    CHECK(rig.heard.frames == 0);
    CHECK(rig.heard.errors == std::vector<Status>{});
    CHECK(rig.heard.events.empty());
    CHECK(said.count() == 2);
}

} // namespace successors_test
