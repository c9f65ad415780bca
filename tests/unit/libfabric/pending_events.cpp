// SPDX-License-Identifier: BSD-3-Clause
// Events wait in their order, and none outlives the link that it names.
#include "support/catch.h"

#include "libfabric/pending_events.h"

#include <array>
#include <cstddef>

namespace pending_events_test {

using namespace plexus::message_link;
using plexus::libfabric::PendingEvents;

namespace {

/// Two peers without a link, which nothing here asks for.
struct Peers {
    alignas(std::max_align_t) std::array<std::byte, 1> nothing{};
    Peer first{reinterpret_cast<Link&>(nothing)};
    Peer second{reinterpret_cast<Link&>(nothing)};
};

void add(PendingEvents& events, Event::What what, Peer* peer, std::uint64_t number) {
    Event event;
    event.what = what;
    event.peer = peer;
    event.bytes = number;
    events.add(std::move(event));
}

std::vector<std::uint64_t> take(PendingEvents& events, std::size_t most) {
    std::array<Event, 8> out;
    const std::size_t count = events.take(out.data(), most);
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(out.at(i).bytes);
    return numbers;
}

} // namespace

TEST_CASE("events are taken in their order, at most as many as are wanted") {
    Peers peers;
    PendingEvents events;
    CHECK(events.is_empty());
    for (std::uint64_t i = 1; i <= 3; ++i) add(events, Event::What::fetched, &peers.first, i);
    CHECK(take(events, 2) == std::vector<std::uint64_t>{1, 2});
    CHECK_FALSE(events.is_empty());
    add(events, Event::What::fetched, &peers.first, 4);
    CHECK(take(events, 8) == std::vector<std::uint64_t>{3, 4});
    CHECK(events.is_empty());
}

TEST_CASE("fetches that have ended are counted for their peer alone") {
    Peers peers;
    PendingEvents events;
    add(events, Event::What::fetched, &peers.first, 1);
    add(events, Event::What::fetched, &peers.second, 2);
    add(events, Event::What::broken, &peers.first, 3);
    add(events, Event::What::fetched, &peers.first, 4);
    CHECK(events.fetched_over(peers.first) == 2);
    CHECK(events.fetched_over(peers.second) == 1);
}

TEST_CASE("a peer that is forgotten is named by no event") {
    Peers peers;
    PendingEvents events;
    add(events, Event::What::broken, &peers.first, 1);
    add(events, Event::What::broken, &peers.second, 2);
    add(events, Event::What::arrived, nullptr, 3);
    add(events, Event::What::ended, &peers.first, 4);
    events.forget(peers.first);
    CHECK(take(events, 8) == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("of an endpoint that has ended only messages that had arrived are told") {
    Peers peers;
    PendingEvents events;
    add(events, Event::What::arrived, nullptr, 1);
    add(events, Event::What::fetched, &peers.first, 2);
    add(events, Event::What::arrived, nullptr, 3);
    add(events, Event::What::ended, &peers.second, 4);
    events.keep_arrivals();
    CHECK(take(events, 8) == std::vector<std::uint64_t>{1, 3});
}

} // namespace pending_events_test
