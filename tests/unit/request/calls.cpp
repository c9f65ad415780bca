// SPDX-License-Identifier: BSD-3-Clause
// Waiting calls: an answer ends its own call, from its own peer, once.
#include "request/calls.h"
#include "request/waiting_requests.h"
#include "support/catch.h"
#include "transport/peer.h"

#include <set>

namespace calls_test {

using namespace plexus;
using plexus::request::Calls;

namespace {

std::shared_ptr<detail::CallState> waiting() { return std::make_shared<detail::TypedCall<int>>(nullptr); }

const Calls::Ending kLost{Status::peer_lost, "it is lost"};

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
    auto* const first = reinterpret_cast<transport::Channel*>(&peers.one);
    auto* const second = reinterpret_cast<transport::Channel*>(&peers.two);
    const auto a = waiting(), b = waiting(), c = waiting();
    REQUIRE(calls.add({a, &peers.one, {}, first}));
    const auto id = calls.add({b, &peers.one, {}, first}).value();
    REQUIRE(calls.add({c, &peers.one, {}}));
    CHECK(calls.awaits_by(first));
    CHECK_FALSE(calls.awaits_by(second));
    CHECK_FALSE(calls.goes_by(id, &peers.two, second)); // another peer's
    REQUIRE(calls.goes_by(id, &peers.one, second));
    const auto lost = calls.take_all_by(first, kLost);
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].state == a);
    CHECK_FALSE(calls.awaits_by(first));
    calls.moved(second, first);
    CHECK_FALSE(calls.awaits_by(second));
    CHECK(calls.take_all_by(second, kLost).empty());
    CHECK(calls.awaits_by(first));
    CHECK(calls.take(id, &peers.one).state == b);
    CHECK_FALSE(calls.goes_by(id, &peers.one, first)); // it has ended
    CHECK(calls.take_all_by(first, kLost).empty());
    CHECK(calls.take_all(&peers.one, kLost).size() == 1);
}

TEST_CASE("a broken link without copies ends the calls that were on their way by then, no later ones") {
    Peers peers;
    Calls calls(10);
    auto* const broken = reinterpret_cast<transport::Channel*>(&peers.one);
    auto* const other = reinterpret_cast<transport::Channel*>(&peers.two);
    const auto before = waiting(), elsewhere = waiting(), after = waiting();
    REQUIRE(calls.add({before, &peers.one, {}, broken}));
    REQUIRE(calls.add({elsewhere, &peers.one, {}, other}));
    calls.mark_uncertain(broken);
    REQUIRE(calls.add({after, &peers.one, {}, broken}));
    CHECK(calls.take_all_by(other, kLost, true).empty());
    const auto lost = calls.take_all_by(broken, kLost, true);
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].state == before);
    CHECK(calls.awaits_by(broken));
    CHECK(calls.awaits_by(other));
    CHECK(calls.take_all(&peers.one, kLost).size() == 2);
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
    for (const auto& entry : calls.take_all(&peers.one, kLost)) taken.insert(entry.state.get());
    CHECK(taken.size() == 10);
    CHECK(calls.take_all(&peers.one, kLost).empty());
    CHECK(calls.awaits(&peers.two));
    CHECK(calls.take_all(&peers.two, kLost).size() == 10);
}

TEST_CASE("an answer has its place while its call waits, and no second answer has it at the same time") {
    Peers peers;
    Calls calls(10);
    std::vector<std::byte> into(64);
    // Only their addresses are looked at.
    auto& link = *reinterpret_cast<transport::Link*>(&peers.one);
    auto& other = *reinterpret_cast<transport::Link*>(&peers.two);
    const auto state = waiting();
    const auto id = calls.add({state, &peers.one, into}).value();
    CHECK(calls.land(id, &peers.two, 64, link) == nullptr); // another peer made it up
    CHECK(calls.land(id, &peers.one, 63, link) == nullptr);
    CHECK(calls.land(id, &peers.one, 64, link) == into.data());
    CHECK(calls.placer(id, &peers.one) == &link);
    CHECK(calls.is_moving(id, &peers.one));
    CHECK(calls.land(id, &peers.one, 64, other) == nullptr);
    CHECK_FALSE(calls.hold(id, &peers.one, Calls::Use::move));
    CHECK(calls.take(id, &peers.one).state == nullptr);
    CHECK(calls.let_go(id, &peers.one, Calls::Ending{}, &other).entry.state == nullptr);
    CHECK(calls.let_go(id, &peers.one, {}, &link).entry.state == nullptr); // its link broke
    CHECK(calls.land(id, &peers.one, 64, other) == into.data());
    const auto over = calls.let_go(id, &peers.one, Calls::Ending{}, &other);
    CHECK(over.entry.state == state);
    CHECK(over.ending.status == Status::ok);
    CHECK(calls.land(id, &peers.one, 64, link) == nullptr);
}

TEST_CASE("what ends a call while its memory is in use is noted once, and told afterwards") {
    Peers peers;
    Calls calls(10);
    std::vector<std::byte> into(64);
    auto& link = *reinterpret_cast<transport::Link*>(&peers.one);
    auto* const via = reinterpret_cast<transport::Channel*>(&peers.one);
    Calls::Clock::time_point next;
    const int how = GENERATE(range(0, 4));
    CAPTURE(how);
    const auto id = calls.add({waiting(), &peers.one, into, via}).value();
    calls.expires(id, {});
    REQUIRE(calls.land(id, &peers.one, 64, link) != nullptr);
    Calls::Entry entry;
    if (how == 0) CHECK(calls.take_all(&peers.one, kLost).empty());
    if (how == 1) CHECK(calls.take_all_by(via, kLost).empty());
    if (how == 2) CHECK(calls.take_expired(Calls::Clock::now(), next).empty());
    if (how == 3) CHECK(calls.end(id, &peers.one, kLost, entry) == Calls::Outcome::noted);
    CHECK(calls.end(id, &peers.one, {Status::cancelled, {}}, entry) == Calls::Outcome::unknown);
    const auto now = Calls::Clock::now();
    CHECK(calls.placing_since(now - std::chrono::hours(1), next).empty());
    CHECK(next <= now);
    CHECK(calls.placing_since(now + std::chrono::hours(1), next) == std::vector{&link});
    const auto over = calls.let_go(id, &peers.one, Calls::Ending{}, &link);
    CHECK(over.entry.into.data() == into.data());
    CHECK(over.ending.status == (how == 2 ? Status::deadline_exceeded : Status::peer_lost));
    CHECK(calls.placing_since(now + std::chrono::hours(1), next).empty());
    const auto forced = calls.add({waiting(), &peers.one, into}).value();
    REQUIRE(calls.hold(forced, &peers.one, Calls::Use::send));
    CHECK_FALSE(calls.is_moving(forced, &peers.one)); // the answer may come
    CHECK(calls.take_all(&peers.one, kLost, true).size() == 1);
    CHECK(calls.let_go(forced, &peers.one).entry.state == nullptr);
}

TEST_CASE("requests that are cancelled or late are remembered for their peer, transfers and others are not") {
    const auto peer = std::make_shared<transport::Peer>(ContextId{{3}});
    auto* const via = reinterpret_cast<transport::Channel*>(peer.get());
    Calls calls(10);
    std::vector<std::uint64_t> ids;
    for (const char* types : {"i32()", "i32()", "i32()", ""})
        ids.push_back(calls.add({waiting(), peer.get(), {}, via, false, types}).value());
    Calls::Entry entry;
    CHECK(calls.end(ids[0], peer.get(), {Status::cancelled, {}}, entry) == Calls::Outcome::ended);
    CHECK(calls.end(ids[2], peer.get(), kLost, entry) == Calls::Outcome::ended);
    CHECK(calls.end(ids[3], peer.get(), {Status::cancelled, {}}, entry) == Calls::Outcome::ended);
    calls.expires(ids[1], {});
    Calls::Clock::time_point next;
    CHECK(calls.take_expired(Calls::Clock::now(), next).size() == 1);
    const auto abandoned = calls.take_abandoned();
    REQUIRE(abandoned.size() == 2);
    CHECK(abandoned[0].call == ids[0]);
    CHECK(abandoned[1].call == ids[1]);
    CHECK(abandoned[0].via == via);
    CHECK(abandoned[0].peer == peer);
    CHECK(calls.take_abandoned().empty());
}

TEST_CASE("calls that were cancelled are known while requests wait, and not for longer") {
    request::WaitingRequests waits;
    const std::uint64_t calls[] = {1, 2};
    waits.cancel(calls); // nothing waits: both have begun
    CHECK(waits.remembered() == 0);
    waits.enter();
    waits.enter();
    waits.cancel(calls);
    CHECK_FALSE(waits.leave(2));
    CHECK(waits.remembered() == 1);
    CHECK(waits.leave(3));
    CHECK(waits.remembered() == 0);
    waits.enter();
    for (std::uint64_t i = 0; i < 2 * request::WaitingRequests::kMostCancelled; ++i)
        waits.cancel(std::span(&i, 1));
    CHECK(waits.remembered() == request::WaitingRequests::kMostCancelled);
}

} // namespace calls_test
