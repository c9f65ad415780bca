// SPDX-License-Identifier: BSD-3-Clause
// Waiting calls: an answer ends its own call, from its own peer, once.
#include "request/calls.h"
#include "support/catch.h"
#include "transport/peer.h"

#include <set>

using namespace plexus;
using plexus::request::Calls;

namespace {

std::shared_ptr<detail::CallState> waiting() { return std::make_shared<detail::TypedCall<int>>(nullptr); }

struct Peers {
    transport::Peer one{ContextId{{1}}};
    transport::Peer two{ContextId{{2}}};
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
    std::set<std::uint64_t> numbers;
    auto number = calls.add({waiting(), &peers.one, {}}).value();
    for (int i = 0; i < 10'000; ++i) {
        numbers.insert(number);
        REQUIRE(calls.take(number, &peers.one).state != nullptr);
        const auto state = waiting();
        const auto next = calls.add({state, &peers.one, {}}).value();
        CHECK(calls.take(number, &peers.one).state == nullptr);
        number = next;
    }
    CHECK(numbers.size() == 10'000);
    CHECK(calls.take(number, &peers.one).state != nullptr);
}

TEST_CASE("a place whose generations are used up is not used again") {
    Peers peers;
    Calls calls(1, UINT32_MAX - 1);
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 5; ++i) {
        const auto state = waiting();
        const auto id = calls.add({state, &peers.one, {}});
        REQUIRE(id); // the limit counts calls that wait, not places
        CHECK_FALSE(calls.add({waiting(), &peers.one, {}}));
        for (const std::uint64_t past : ids) CHECK(calls.take(past, &peers.one).state == nullptr);
        CHECK(ids.insert(*id).second);
        CHECK(*id >> 32 >= UINT32_MAX - 1); // never from the start again
        CHECK(calls.take(*id, &peers.one).state == state);
    }
}

TEST_CASE("calls are ended and moved by the communication object that carries them") {
    Peers peers;
    Calls calls(10);
    // Only their addresses are looked at.
    const auto* const first = reinterpret_cast<const transport::Channel*>(&peers.one);
    const auto* const second = reinterpret_cast<const transport::Channel*>(&peers.two);
    const auto a = waiting(), b = waiting(), c = waiting();
    REQUIRE(calls.add({a, &peers.one, {}, first}));
    const auto id = calls.add({b, &peers.one, {}, first}).value();
    REQUIRE(calls.add({c, &peers.one, {}}));
    CHECK(calls.awaits_by(first));
    CHECK_FALSE(calls.awaits_by(second));
    CHECK_FALSE(calls.goes_by(id, &peers.two, second)); // another peer's
    REQUIRE(calls.goes_by(id, &peers.one, second));
    const auto lost = calls.take_all_by(first);
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].state == a);
    CHECK_FALSE(calls.awaits_by(first));
    calls.moved(second, first);
    CHECK_FALSE(calls.awaits_by(second));
    CHECK(calls.take_all_by(second).empty());
    CHECK(calls.awaits_by(first));
    CHECK(calls.take(id, &peers.one).state == b);
    CHECK_FALSE(calls.goes_by(id, &peers.one, first)); // it has ended
    CHECK(calls.take_all_by(first).empty());
    CHECK(calls.take_all(&peers.one).size() == 1);
}

TEST_CASE("calls are taken out at their deadlines, the others stay") {
    Peers peers;
    Calls calls(10'000);
    const Calls::Clock::time_point start{};
    const auto at = [&](int i) { return start + std::chrono::milliseconds(i); };
    const auto a = waiting(), b = waiting(), c = waiting();
    const auto first = calls.add({a, &peers.one, {}}).value();
    const auto second = calls.add({b, &peers.one, {}}).value();
    const auto third = calls.add({c, &peers.two, {}}).value();
    CHECK(calls.expires(first, at(30)));
    CHECK_FALSE(calls.expires(second, at(40)));
    CHECK(calls.expires(third, at(20)));
    Calls::Clock::time_point next;
    CHECK(calls.take_expired(at(19), next).empty());
    CHECK(next == at(20));
    auto expired = calls.take_expired(at(20), next);
    REQUIRE(expired.size() == 1);
    CHECK(expired[0].state == c);
    CHECK(next == at(30));
    CHECK(calls.take(first, &peers.one).state == a); // answered
    CHECK(calls.take_expired(at(35), next).empty());
    CHECK(next == at(40));
    CHECK(calls.take_expired(at(45), next).at(0).state == b);
    CHECK(next == Calls::Clock::time_point::max());
    CHECK_FALSE(calls.expires(second, at(1))); // it has ended
    CHECK(calls.take_expired(at(50), next).empty());
}

TEST_CASE("deadlines of calls that were answered are forgotten in time") {
    Peers peers;
    Calls calls(10);
    const Calls::Clock::time_point start{};
    const auto kept = calls.add({waiting(), &peers.one, {}}).value();
    CHECK(calls.expires(kept, start + std::chrono::hours(2)));
    for (int i = 0; i < 10'000; ++i) {
        const auto id = calls.add({waiting(), &peers.one, {}}).value();
        calls.expires(id, start + std::chrono::hours(1));
        REQUIRE(calls.take(id, &peers.one).state != nullptr);
        REQUIRE(calls.deadlines() <= 2 * 10 + 64);
    }
    Calls::Clock::time_point next;
    CHECK(calls.take_expired(start, next).empty());
    CHECK(next == start + std::chrono::hours(2));
    CHECK(calls.deadlines() == 1);
}

TEST_CASE("no more calls wait than are allowed") {
    Peers peers;
    Calls calls(3);
    std::vector<std::uint64_t> numbers;
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
