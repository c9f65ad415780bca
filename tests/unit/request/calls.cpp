// SPDX-License-Identifier: BSD-3-Clause
// Waiting calls: an answer ends its own call, from its own peer, once.
#include "request/calls.h"
#include "comm/peer.h"
#include "support/catch.h"

#include <set>

using namespace plexus;
using plexus::request::Calls;

namespace {

std::shared_ptr<detail::CallState> waiting() { return std::make_shared<detail::TypedCall<int>>(nullptr); }

struct Peers {
    comm::Peer one{ContextId{{1}}};
    comm::Peer two{ContextId{{2}}};
};

} // namespace

TEST_CASE("an answer takes its call out, once") {
    Peers peers;
    Calls calls(10);
    const auto state = waiting();
    const auto number = calls.add({state, &peers.one, {}}).value();
    CHECK(calls.awaits(&peers.one));
    CHECK_FALSE(calls.awaits(&peers.two));
    CHECK(calls.take(number, &peers.two).state == nullptr); // another peer made it up
    CHECK(calls.take(number + 1, &peers.one).state == nullptr);
    CHECK(calls.take(0xffffffff, &peers.one).state == nullptr);
    CHECK(calls.take(number, &peers.one).state == state);
    CHECK(calls.take(number, &peers.one).state == nullptr);
    CHECK_FALSE(calls.awaits(&peers.one));
    CHECK(state.use_count() == 1);
}

TEST_CASE("a late answer never ends the call that has its place now") {
    Peers peers;
    Calls calls(1);
    std::set<std::uint32_t> numbers;
    auto number = calls.add({waiting(), &peers.one, {}}).value();
    for (int i = 0; i < 1'000; ++i) {
        numbers.insert(number);
        REQUIRE(calls.take(number, &peers.one).state != nullptr);
        const auto state = waiting();
        const auto next = calls.add({state, &peers.one, {}}).value();
        CHECK(calls.take(number, &peers.one).state == nullptr);
        number = next;
    }
    CHECK(numbers.size() == 1'000);
    CHECK(calls.take(number, &peers.one).state != nullptr);
}

TEST_CASE("no more calls wait than are allowed") {
    Peers peers;
    Calls calls(3);
    std::vector<std::uint32_t> numbers;
    for (int i = 0; i < 3; ++i) numbers.push_back(calls.add({waiting(), &peers.one, {}}).value());
    const auto refused = calls.add({waiting(), &peers.one, {}});
    REQUIRE_FALSE(refused);
    CHECK(refused.status() == Status::again);
    CHECK(refused.failure().why.find("limits.calls") != std::string::npos);
    CHECK(calls.take(numbers[1], &peers.one).state != nullptr);
    CHECK(calls.add({waiting(), &peers.one, {}}));
    CHECK_FALSE(calls.add({waiting(), &peers.one, {}}));
}

TEST_CASE("a lost peer's calls are taken out together, those to others stay") {
    Peers peers;
    Calls calls(100);
    std::set<detail::CallState*> lost;
    for (int i = 0; i < 20; ++i) {
        const auto state = waiting();
        const bool first = i % 2 == 0;
        if (first) lost.insert(state.get());
        REQUIRE(calls.add({state, first ? &peers.one : &peers.two, {}}));
    }
    std::set<detail::CallState*> taken;
    for (const auto& entry : calls.take_all(&peers.one)) taken.insert(entry.state.get());
    CHECK(taken.size() == 10);
    CHECK(calls.take_all(&peers.one).empty());
    CHECK(calls.awaits(&peers.two));
    CHECK(calls.take_all(&peers.two).size() == 10);
}

TEST_CASE("the answer's place is known while its call waits") {
    Peers peers;
    Calls calls(10);
    std::vector<std::byte> into(64);
    const auto number = calls.add({waiting(), &peers.one, into}).value();
    CHECK(calls.destination(number, &peers.one).data() == into.data());
    CHECK(calls.destination(number, &peers.one).size() == 64);
    CHECK(calls.destination(number, &peers.two).empty());
    CHECK(calls.take(number, &peers.one).into.size() == 64);
    CHECK(calls.destination(number, &peers.one).empty());
}
