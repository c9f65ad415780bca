// SPDX-License-Identifier: BSD-3-Clause
// A context that has no memory for what arrives: its sender is told, and the link goes on.
#include "scripted.h"

#include "support/limit.h"

namespace shortage_test {

using namespace plexus;
using namespace plexus::testing;
using wire::Kind;

namespace {

constexpr std::size_t kLarge = std::size_t{64} << 20;
constexpr rlim_t kLeft = rlim_t{16} << 20;

/// A link on which the peer's stream has begun.
struct Receiver {
    Receiver()
      : link(rig.link_up(rig.one)) {
        rig.one.deliver(link, rig.hello(7));
        rig.turns();
    }
    /// The first bytes of a request come, and say that kLarge more follow: the answer.
    std::int32_t place(std::size_t head, std::size_t rest = kLarge) {
        std::int32_t said = PLEXUS_LINK_LOST;
        rig.one.place(link, head_of(head), rest, &said);
        rig.turns();
        return said;
    }
    static wire::Bytes head_of(std::size_t bytes) {
        wire::Bytes request(wire::RequestHeader::kBytes);
        wire::encode(wire::RequestHeader{}, request.data());
        request.resize(bytes);
        return request;
    }
    void placed() {
        rig.one.placed(link);
        rig.turns();
    }
    void deliver() {
        rig.one.deliver(link, head_of(wire::RequestHeader::kBytes));
        rig.turns();
    }
    /// How many messages the peer hears to have arrived, if it asks now.
    std::uint64_t confirmed() {
        rig.one.deliver(link, Rig::control(Kind::ack_request, 7, 0));
        rig.turns();
        const auto acks = rig.one.sent(link, Kind::ack);
        return acks.empty() ? 0 : wire::decode_stream(wire::View(acks.back()))->count;
    }

    Rig rig;
    ScriptedMethod::Link& link;
};

const std::vector<Status> kOneTooLarge{Status::too_large};

} // namespace

TEST_CASE("a large message that there is no memory for is told as such, and counts as arrived") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    Receiver receiver;
    std::int32_t said = PLEXUS_OK;
    {
        const Limit limit(RLIMIT_AS, address_space() + kLeft);
        said = receiver.place(wire::RequestHeader::kBytes);
    }
    CHECK(said == PLEXUS_TOO_LARGE);
    CHECK(receiver.rig.heard.errors == kOneTooLarge);
    CHECK(receiver.confirmed() == 1);
    CHECK_FALSE(receiver.link.given_up);
    receiver.deliver();
    CHECK(receiver.rig.delivered == 1);
    CHECK(receiver.confirmed() == 2);
}

TEST_CASE("a large message that can't be moved to where its numbers are read is told as such") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    Receiver receiver;
    REQUIRE(receiver.place(wire::RequestHeader::kBytes + 4) == PLEXUS_OK);
    {
        const Limit limit(RLIMIT_AS, address_space() + kLeft);
        receiver.placed();
    }
    CHECK(receiver.rig.heard.errors == kOneTooLarge);
    CHECK(receiver.rig.delivered == 0);
    CHECK(receiver.confirmed() == 1);
    receiver.deliver();
    CHECK(receiver.rig.delivered == 1);
}

TEST_CASE("a large message whose head is no whole number of words is moved, and delivered") {
    Receiver receiver;
    CHECK(receiver.place(wire::RequestHeader::kBytes + 4, 100'000) == PLEXUS_OK);
    receiver.placed();
    CHECK(receiver.rig.delivered == 1);
    CHECK(receiver.confirmed() == 1);
}

} // namespace shortage_test
