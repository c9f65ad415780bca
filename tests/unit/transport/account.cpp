// SPDX-License-Identifier: BSD-3-Clause
// One account per peer: limits.retain and limits.handler_queue bound what all channels to a peer hold
// together, and what was held is given back when it is acknowledged, lost or given up.
#include "scripted.h"

namespace account_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::transport;
using wire::Kind;

namespace {

constexpr std::uint64_t kRetain = 64 * 1024;
constexpr std::uint64_t kQueue = 256 * 1024;

EndpointOptions narrow() {
    EndpointOptions options;
    options.retain = kRetain;
    options.handler_queue = kQueue;
    return options;
}

/// Sends by a channel if there is room now.
Status try_send(Channel& channel, std::size_t size) {
    Message message(size);
    message.deadline = std::chrono::steady_clock::now(); // it does not wait
    return channel.send(message, nullptr);
}

} // namespace

TEST_CASE("an allowance takes a little ahead, never beyond the limit, and gives back what is not needed") {
    PeerAccount account;
    {
        Allowance allowance(account, 3200);
        CHECK(allowance.take(0, 50, 3200, 0));
        CHECK(allowance.granted() == 150); // a 32nd part ahead
        CHECK(allowance.take(50, 100, 3200, 0));
        CHECK(account.used() == 150);
        CHECK(allowance.take(150, 3000, 3200, 0));
        CHECK(allowance.granted() == 3150); // exactly: there is not as much left as it would take ahead
        CHECK_FALSE(allowance.take(3150, 51, 3200, 0));
        CHECK(account.used() == 3150);
        allowance.fit(1000);
        CHECK(allowance.granted() == 1200);
        CHECK(account.used() == 1200);
        allowance.fit(1150); // near enough
        CHECK(account.used() == 1200);
        allowance.fit(5000); // it is there already
        CHECK(account.used() == 5000);
        allowance.fit(4000); // above the usual limit nothing stays ahead
        CHECK(account.used() == 4000);
        allowance.fit(0);
        CHECK(account.used() == 0);
        allowance.fit(10);
        CHECK(account.used() == 10);
    }
    CHECK(account.used() == 0);
}

TEST_CASE("something of any size is allowed where all channels together hold little") {
    PeerAccount account;
    Allowance one(account, 320);
    Allowance two(account, 320);
    CHECK(one.take(0, 10'000, 320, 0));
    one.fit(10'000);
    CHECK_FALSE(two.take(0, 1, 320, 0));
    CHECK_FALSE(two.take(0, 1, 5000, 9'999));
    CHECK(two.take(0, 70'000, 5000, 10'000));
    CHECK(account.used() == 80'000);
    one.fit(0);
    CHECK(one.take(0, 10, 100'000, 0)); // within another limit
    CHECK(account.used() == 70'010);    // and exactly: more than usual is in use
    two.fit(0);
    one.fit(0);
    CHECK(account.used() == 0);
}

TEST_CASE("channels to a peer that withholds acknowledgements keep limits.retain together, not each") {
    const std::size_t size = GENERATE(24u, 1000u, 30'000u);
    CAPTURE(size);
    Rig rig(narrow());
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    Channel* const channels[] = {&rig.channel(rig.one), &rig.channel(rig.two)};
    const std::uint64_t cost = sizeof(PendingFrame) + size;
    std::uint64_t kept[2] = {};
    for (int full = 0; full < 2;) {
        full = 0;
        for (int each = 0; each < 2; ++each) {
            const Status status = try_send(*channels[each], size);
            kept[each] += status == Status::ok ? 1 : 0;
            full += status == Status::timed_out ? 1 : 0;
            REQUIRE(rig.peer->account.used() <= kRetain);
        }
    }
    CHECK(kept[0] > 0);
    CHECK(kept[1] > 0);
    CHECK((kept[0] + kept[1]) * cost <= kRetain);
    CHECK((kept[0] + kept[1] + 1) * cost > kRetain * 7 / 8); // what each took ahead is a small part
    SECTION("what is acknowledged makes room for both") {
        rig.one.deliver(first, Rig::control(Kind::ack, rig.stream_of(first), kept[0]));
        rig.turns();
        CHECK(rig.peer->account.used() >= kept[1] * cost);
        CHECK(try_send(*channels[1], size) == Status::ok);
        rig.two.deliver(second, Rig::control(Kind::ack, rig.stream_of(second), kept[1] + 1));
        rig.turns();
        CHECK(rig.peer->account.used() == 0);
        CHECK(try_send(*channels[0], size) == Status::ok);
    }
    SECTION("what is lost is given back") {
        rig.heard.awaited = true;
        rig.one.connect = rig.two.connect = PLEXUS_BAD_ARGUMENT;
        rig.one.lose(first, PLEXUS_PEER_LOST);
        rig.two.lose(second, PLEXUS_PEER_LOST);
        rig.turns();
        CHECK(rig.heard.frames == kept[0] + kept[1]);
        CHECK(rig.peer->account.used() == 0);
    }
    SECTION("what moves to another channel is counted once") {
        rig.one.connect = PLEXUS_BAD_ARGUMENT;
        rig.one.lose(first, PLEXUS_BAD_ARGUMENT);
        REQUIRE(eventually(20s, [&] {
            rig.turns();
            return channels[0]->dead();
        }));
        CHECK(rig.peer->account.used() >= (kept[0] + kept[1]) * cost);
        CHECK(rig.peer->account.used() <= kRetain + 1000); // and the question about the stream that broke
        const std::uint32_t stream = rig.stream_of(first);
        rig.two.deliver(second, Rig::control(Kind::ack, rig.stream_of(second), kept[1]));
        rig.two.deliver(second, Rig::control(Kind::replay_answer, stream, kept[0]));
        rig.turns();
        CHECK(rig.peer->account.used() == 0);
    }
}

TEST_CASE("what handlers have queued for a peer is bounded over all channels, also where modules hold it") {
    const bool posted = GENERATE(true, false);
    const bool fragile = GENERATE(true, false);
    CAPTURE(posted, fragile);
    Rig rig(narrow(), fragile, posted ? 1000 : UINT64_MAX);
    ScriptedMethod::Link& first = rig.link_up(rig.one);
    ScriptedMethod::Link& second = rig.link_up(rig.two);
    if (!posted) rig.one.answer = rig.two.answer = PLEXUS_AGAIN;
    const std::uint64_t cost = sizeof(PendingFrame) + 3000;
    std::uint64_t taken = 0;
    rig.inside([&] {
        for (bool full = false; !full;) {
            full = true;
            for (ScriptedMethod* method : {&rig.one, &rig.two}) {
                Message message(3000);
                if (rig.channel(*method).send(message, nullptr) != Status::ok) continue;
                ++taken;
                full = false;
            }
            REQUIRE(rig.peer->account.used() <= kQueue);
        }
        Message answer(3000);
        answer.from_reserve = true; // it says why there is no other
        CHECK(rig.channel(rig.one).send(answer, nullptr) == Status::ok);
    });
    CHECK(taken * cost <= kQueue);
    CHECK((taken + 1) * cost > kQueue * 7 / 8);
    CHECK(rig.peer->account.used() >= (taken + 1) * cost);
    rig.one.answer = rig.two.answer = PLEXUS_OK;
    for (ScriptedMethod::Link* link : {&first, &second}) {
        link->method->writable(*link);
        link->method->end_posted(*link);
        rig.turns();
        const auto sent = link->method->sent(*link, Kind::request).size();
        if (fragile) CHECK(rig.peer->account.used() > 0);
        link->method->deliver(*link, Rig::control(Kind::ack, rig.stream_of(*link), sent));
        rig.turns();
    }
    CHECK(rig.peer->account.used() == 0);
}

TEST_CASE("what a module still reads stays on the account when its channel has given it up") {
    Rig rig(narrow(), true, 1000);
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.inside([&] {
        Message message(20'000);
        CHECK(rig.channel(rig.one).send(message, nullptr) == Status::ok);
    });
    REQUIRE(link.posted.size() == 1);
    SECTION("because it was acknowledged") {
        rig.one.deliver(link, Rig::control(Kind::ack, rig.stream_of(link), 1));
        rig.turns();
    }
    SECTION("because the peer has ended") {
        rig.one.deliver(link, wire::encode_goodbye());
        rig.turns();
        CHECK(rig.heard.frames == 1);
    }
    CHECK(rig.peer->account.used() > 20'000);
    rig.one.end_posted(link);
    rig.turns();
    CHECK(rig.peer->account.used() == 0);
}

TEST_CASE("answers to a peer that asks and does not read are on its account, until they leave or it is cut") {
    Rig rig(narrow());
    ScriptedMethod::Link& link = rig.link_up(rig.one);
    rig.one.deliver(link, rig.hello(1));
    rig.turns();
    CHECK(rig.peer->account.used() == 0);
    rig.one.answer = PLEXUS_AGAIN;
    for (std::uint32_t stream = 2; stream < 102; ++stream)
        rig.one.deliver(link, Rig::control(Kind::replay_request, stream, 0));
    rig.turns();
    CHECK(rig.peer->account.used() >= 100 * wire::StreamFrame::kBytes);
    SECTION("they leave") {
        rig.one.answer = PLEXUS_OK;
        rig.one.writable(link);
        rig.turns();
        CHECK(rig.one.sent(link, Kind::replay_answer).size() == 100);
    }
    SECTION("they are too many") {
        const auto said = expect_warning("more questions than it reads answers");
        for (std::uint32_t stream = 200; stream < 3000; ++stream)
            rig.one.deliver(link, Rig::control(Kind::replay_request, stream, 0));
        rig.turns();
        CHECK(link.given_up);
    }
    CHECK(rig.peer->account.used() == 0);
}

} // namespace account_test
