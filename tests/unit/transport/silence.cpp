// SPDX-License-Identifier: BSD-3-Clause
// Peers that say nothing for limits.silence: which links end, which are asked, and who is told.
#include "scripted.h"

#include <thread>

namespace silence_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using Clock = std::chrono::steady_clock;
using wire::Kind;

namespace {

constexpr std::chrono::milliseconds kSilence{200};

EndpointOptions impatient() {
    EndpointOptions options;
    options.silence = kSilence;
    return options;
}

/// Turns until something holds.
template <class F>
bool turned_until(Rig& rig, F holds) {
    return eventually(20s, [&] {
        rig.turns();
        return holds();
    });
}

/// Turns for so long.
void turn_for(Rig& rig, std::chrono::milliseconds time) {
    for (const auto until = Clock::now() + time; Clock::now() < until;) {
        rig.turns();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// The far end answers questions on a method's links, as its transport would.
void answer_questions(ScriptedMethod& method) {
    method.on_send = [&method](ScriptedMethod::Link& link, const wire::Bytes& frame) {
        if (wire::kind_of(frame) != Kind::ack_request) return;
        const auto asked = wire::decode_stream(wire::View(frame));
        method.deliver(link, Rig::control(Kind::ack, asked->stream, asked->count));
    };
}

} // namespace

TEST_CASE("a link whose peer says nothing for limits.silence ends, and was asked once") {
    Rig rig(impatient());
    const auto start = Clock::now();
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    SECTION("not even hello") {}
    SECTION("behind its hello") {
        rig.one.deliver(link, rig.hello(7));
        rig.turns();
    }
    REQUIRE(turned_until(rig, [&] { return link.given_up; }));
    CHECK(Clock::now() - start >= kSilence);
    CHECK(rig.one.sent(link, Kind::ack_request).size() == 1);
    CHECK(turned_until(rig, [&] { return rig.one.links() == 2; })); // it is made anew
    CHECK(rig.heard.events.empty()); // and nobody is lost before that was in vain
}

TEST_CASE("an idle link whose peer answers questions stays") {
    Rig rig(impatient());
    answer_questions(rig.one);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(7));
    turn_for(rig, 6 * kSilence);
    CHECK_FALSE(link.given_up);
    CHECK(rig.one.links() == 1);
    CHECK(rig.one.sent(link, Kind::ack_request).size() >= 3);
}

TEST_CASE("a link whose large message comes slowly stays, and its sender hears so") {
    Rig rig(impatient());
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(7));
    rig.turns();
    std::int32_t said = -1;
    wire::Bytes head(24);
    head[0] = static_cast<std::byte>(Kind::data);
    rig.one.place(link, head, 1 << 20, &said);
    rig.turns();
    REQUIRE(said == PLEXUS_OK);
    for (int part = 0; part < 30; ++part) {
        turn_for(rig, kSilence / 5);
        rig.one.arriving(link);
    }
    CHECK_FALSE(link.given_up);
    CHECK(rig.one.links() == 1);
    CHECK(rig.one.sent(link, Kind::ack).size() >= 10);       // for a sender that hears nothing else
    CHECK(turned_until(rig, [&] { return link.given_up; })); // no more comes
}

TEST_CASE("a context that took no turn for longer than limits.silence asks before it ends a link") {
    Rig rig(impatient());
    answer_questions(rig.one);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(7));
    rig.turns();
    for (int i = 0; i < 3; ++i) {
        std::this_thread::sleep_for(2 * kSilence);
        turn_for(rig, 2 * kSilence);
    }
    CHECK_FALSE(link.given_up);
    CHECK(rig.one.links() == 1);
    rig.one.on_send = nullptr; // the peer answers no more
    std::this_thread::sleep_for(2 * kSilence);
    CHECK(turned_until(rig, [&] { return link.given_up; }));
}

TEST_CASE("a link that takes no frames and brings none ends as well") {
    Rig rig(impatient());
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(7));
    rig.turns();
    rig.one.answer = PLEXUS_AGAIN;
    Message message(100);
    rig.inside([&] { CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok); }); // waits for room
    REQUIRE(turned_until(rig, [&] { return link.given_up; }));
    CHECK(rig.one.sent(link, Kind::ack_request).empty());
    CHECK(rig.heard.frames == 0); // kept for the next link
}

TEST_CASE("a peer that opens each link anew and says nothing is lost in the end, and what waits is told") {
    Rig rig(impatient());
    rig.one.opens = true;
    rig.two.connect = PLEXUS_BAD_ARGUMENT;
    rig.link_up(rig.one);
    Message message(100);
    CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
    REQUIRE(turned_until(rig, [&] { return !rig.heard.events.empty(); }));
    CHECK(rig.heard.events.front() == Status::peer_lost);
    CHECK(rig.heard.frames == 1);
}

// A module answers each dial with `opened` or `lost`, in its own time: limits.silence knows open links only.
TEST_CASE("a link that has never been open is its module's until the module gives it up") {
    Rig rig(impatient());
    rig.channel(rig.one).reconnect();
    ScriptedMethod::Link& link = rig.one.link();
    turn_for(rig, 3 * kSilence);
    CHECK_FALSE(link.given_up);
    CHECK(rig.one.links() == 1);
    rig.one.lose(link);
    CHECK(turned_until(rig, [&] { return link.given_up; }));
}

TEST_CASE("without limits.silence a link whose peer says nothing stays") {
    Rig rig;
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    turn_for(rig, 3 * kSilence);
    CHECK_FALSE(link.given_up);
    CHECK(rig.one.sent(link, Kind::ack_request).empty());
}

} // namespace silence_test
