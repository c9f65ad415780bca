// SPDX-License-Identifier: BSD-3-Clause
// Answers that come after the handler has returned; who has asked; several futures as one.
#include "contexts.h"

#include <atomic>
#include <optional>
#include <thread>

namespace later_test {

using namespace plexus;
using namespace plexus::testing;

struct Office {
    std::atomic<int> visits{0};
};
constexpr Request<int(Office&, int)> echo{"later.echo"};
constexpr Request<std::string(Office&, int)> by_reply{"later.by_reply"};
constexpr Request<void(Office&, int)> done_later{"later.done"};
constexpr Request<int(Office&, GlobalPointer<Office>, int)> by_future{"later.by_future"};
constexpr Request<int(Office&, GlobalPointer<Office>, int)> by_coroutine{"later.by_coroutine"};
constexpr Request<void(Office&, GlobalPointer<Office>)> visits_coroutine{"later.visits_coroutine"};
constexpr Request<std::string(Office&)> who{"later.who"};
constexpr Request<std::string(Office&)> who_threaded{"later.who_threaded"};
constexpr Request<int(Office&)> hold{"later.hold"};

std::string described(const Caller& caller) {
    return to_string(caller.context) + " " + caller.name + " " + caller.method;
}

struct Two {
    explicit Two(const std::string& method)
      : owner(by(method, {{"handlers.threads", "1"}}))
      , user(by(method, {{"name", "the client"}})) {
        for (Context* each : {&owner, &user})
            each->on(echo, [](Office&, int x) {
                if (x < 0) throw Error(Status::not_found, "there is no such number");
                return x;
            });
        owner.on(by_reply, [this](Office&, int what, Reply<std::string> reply) {
            if (what == 1) throw Error(Status::busy, "thrown beside a reply");
            if (what == 2) return; // the reply is dropped
            owed.add(std::move(reply));
        });
        owner.on(done_later, [](Office&, int what, Reply<void> reply) {
            what == 0 ? reply.send() : reply.fail(Status::denied, "not you");
        });
        owner.on(by_future,
                 [](Office&, const GlobalPointer<Office>& whom, int x) { return whom.call(echo, x); });
        owner.on(by_coroutine, [](Office& it, GlobalPointer<Office> whom, int x) -> Future<int> {
            ++it.visits;
            if (x == 100) co_return 100; // without waiting
            int sum = 0;
            for (int i = 0; i < 3; ++i) sum += co_await whom.call(echo, x + i);
            ++it.visits;
            co_return sum;
        });
        owner.on(visits_coroutine, threaded, [](Office& it, GlobalPointer<Office> whom) -> Future<void> {
            ++it.visits;
            co_await whom.call(echo, 1);
            ++it.visits;
        });
        owner.on(who, [](Office&) { return described(caller()); });
        owner.on(who_threaded, threaded, [](Office&) { return described(caller()); });
        owner.on(hold, threaded, [this](Office&) {
            ++held;
            eventually(kLimit, [this] { return go.load(); });
            return 0;
        });
        bound = owner.bind(office);
        back = user.bind(users_office);
        far = handed(user, bound.pointer());
    }
    ~Two() { go = true; }
    Office office;
    Office users_office;
    Owed<std::string> owed;
    std::atomic<int> held{0};
    std::atomic<bool> go{false};
    Context owner;
    Context user;
    Bound<Office> bound;
    Bound<Office> back;
    GlobalPointer<Office> far;
};

TEST_CASE("a reply may be given after the handler has returned, by any thread") {
    const std::string method = GENERATE(from_range(and_fabrics({"local", "shm", "tcp"})));
    CAPTURE(method);
    Two two(method);
    Future<std::string> future = two.far.call(by_reply, 0);
    CHECK(within(two.far.call(echo, 1)) == 1); // requests are in order: the handler has returned
    CHECK_FALSE(future.ready());
    Reply<std::string> reply = two.owed.take();
    REQUIRE(reply);
    std::thread([&] { reply.send(std::string(5000, 'x')); }).join();
    CHECK_FALSE(reply);
    CHECK(within(std::move(future)) == std::string(5000, 'x'));
    CHECK(refusal_of([&] { reply.send("again"); }).status == Status::bad_argument);
}

TEST_CASE("a reply that is dropped, failed, or left by an exception ends its call") {
    Two two("tcp");
    const Refusal dropped = refusal_of(two.far.call(by_reply, 2));
    CHECK(dropped.status == Status::handler_threw);
    CHECK(dropped.says("dropped"));
    const Refusal thrown = refusal_of(two.far.call(by_reply, 1));
    CHECK(thrown.status == Status::busy);
    CHECK(thrown.says("beside a reply"));
    within(two.far.call(done_later, 0));
    CHECK(refusal_of(two.far.call(done_later, 1)).status == Status::denied);
    two.far.send(done_later, 0); // nobody waits for it
    CHECK(within(two.far.call(echo, 3)) == 3);
}

TEST_CASE("a handler may return a future, or be a coroutine") {
    const std::string method = GENERATE(from_range(and_fabrics({"local", "shm", "tcp"})));
    CAPTURE(method);
    Two two(method);
    CHECK(within(two.far.call(by_future, two.back.pointer(), 7)) == 7);
    const Refusal refusal = refusal_of(two.far.call(by_future, two.back.pointer(), -1));
    CHECK(refusal.status == Status::not_found);
    CHECK(refusal.says("no such number"));
    CHECK(within(two.far.call(by_coroutine, two.back.pointer(), 10)) == 33);
    CHECK(within(two.far.call(by_coroutine, two.back.pointer(), 100)) == 100);
    CHECK(refusal_of(two.far.call(by_coroutine, two.back.pointer(), -2)).status == Status::not_found);
    within(two.far.call(visits_coroutine, two.back.pointer()));
    CHECK(two.office.visits == 6);
}

TEST_CASE("an object is unbound after the coroutines on it have ended") {
    Two two("tcp");
    Future<int> future = two.far.call(by_coroutine, two.back.pointer(), 1);
    CHECK(within(two.far.call(echo, 1)) == 1); // it has begun
    CHECK(two.bound.reset() == Status::ok);
    CHECK(two.office.visits == 2);
    CHECK(within(std::move(future)) == 6);
}

TEST_CASE("a reply outlives its context") {
    auto two = std::make_unique<Two>("tcp");
    Future<std::string> future = two->far.call(by_reply, 0);
    CHECK(within(two->far.call(echo, 1)) == 1);
    Reply<std::string> reply = two->owed.take();
    two.reset();
    CHECK(future.ready());
    reply.send("nobody is there");
}

TEST_CASE("a handler knows who has called it, by name and method") {
    const std::string method = GENERATE(from_range(and_fabrics({"local", "shm", "tcp"})));
    CAPTURE(method);
    Two two(method);
    const std::string expected =
        to_string(two.user.id()) + " the client " + method.substr(0, method.find('?'));
    CHECK(within(two.far.call(who)) == expected);
    CHECK(within(two.far.call(who_threaded)) == expected);
    CHECK(refusal_of([] { return caller(); }).status == Status::bad_argument);
}

TEST_CASE("a call whose caller is gone does not begin") {
    Office office;
    std::atomic<bool> go{false};
    std::atomic<int> held{0};
    std::atomic<int> noted{0};
    Context owner(by("tcp", {{"handlers.threads", "1"}}));
    owner.on(hold, threaded, [&](Office&) {
        ++held;
        eventually(kLimit, [&] { return go.load(); });
        return 0;
    });
    owner.on(done_later, threaded, [&](Office&, int) { ++noted; });
    const Bound<Office> bound = owner.bind(office);
    {
        Context user(by("tcp"));
        const auto far = handed(user, bound.pointer());
        auto first = far.call(hold);
        CHECK(eventually(kLimit, [&] { return held == 1; }));
        auto second = far.call(hold);
        far.send(done_later, 1); // one way: it was accepted, and is carried out
        user.progress();
    }
    Context witness(by("tcp"));
    const auto far = handed(witness, bound.pointer());
    auto last = far.call(hold); // behind the others; by now the goodbye has been read
    CHECK(eventually(kLimit, [&] { return owner.lanes().at(0).traffic.links <= 1; }));
    go = true;
    CHECK(within(std::move(last)) == 0);
    CHECK(held == 2);
    CHECK(noted == 1);
}

TEST_CASE("a one-way request that is refused is logged at the owner, once a second at most") {
    const auto logged = expect_warning("a one-way request of context");
    Complaints complaints;
    Two two("tcp");
    complaints.listen_to(two.user);
    for (int i = 0; i < 20; ++i) two.far.send(done_later, 1); // its reply fails
    for (int i = 0; i < 20; ++i) CHECK(complaints.next().status == Status::denied);
    two.far.send(echo, -1);
    CHECK(complaints.next().status == Status::not_found);
    CHECK(logged.count() == 1);
    CHECK(logged.lines().at(0).find("the client") != std::string::npos);
}

TEST_CASE("when all futures are ready, so is the one of them all") {
    Two two("shm");
    std::vector<Future<int>> some;
    for (int i = 0; i < 20; ++i) some.push_back(two.far.call(echo, i));
    const std::vector<int> all = within(when_all(std::move(some)));
    REQUIRE(all.size() == 20);
    for (int i = 0; i < 20; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
    CHECK(when_all(std::vector<Future<int>>{}).get().empty());
    within(when_all([&] {
        std::vector<Future<void>> voids;
        for (int i = 0; i < 3; ++i) voids.push_back(two.far.call(done_later, 0));
        return voids;
    }()));

    auto future = two.far.call(by_reply, 0);
    auto both = when_all(two.far.call(echo, 5), std::move(future), two.far.call(done_later, 0));
    CHECK(within(two.far.call(echo, 1)) == 1);
    CHECK_FALSE(both.ready());
    two.owed.take().send("five");
    const auto [number, text, nothing] = within(std::move(both));
    static_cast<void>(nothing);
    CHECK(number == 5);
    CHECK(text == "five");
}

TEST_CASE("when one of them fails, so does the future of them all, after all have ended") {
    Two two("tcp");
    std::vector<Future<int>> some;
    some.push_back(two.far.call(echo, 1));
    some.push_back(two.far.call(echo, -1));
    some.push_back(two.far.with(deadline(10ms)).call(hold));
    CHECK(refusal_of(when_all(std::move(some))).status == Status::not_found);
    std::vector<Future<int>> empty(1);
    CHECK(refusal_of([&] { return when_all(std::move(empty)); }).status == Status::bad_argument);
}

TEST_CASE("the first of several futures that is ready ends the wait for one of them") {
    Two two("tcp");
    std::vector<Future<int>> some;
    some.push_back(two.far.call(hold));
    some.push_back(two.far.call(echo, 8));
    const First<int> first = within(when_any(std::move(some)));
    CHECK(first.index == 1);
    CHECK(first.value == 8);
    std::vector<Future<void>> voids;
    voids.push_back(two.far.call(done_later, 1));
    CHECK(refusal_of(when_any(std::move(voids))).status == Status::denied);
    CHECK(refusal_of([] { return when_any(std::vector<Future<int>>{}); }).status == Status::bad_argument);
}

} // namespace later_test
