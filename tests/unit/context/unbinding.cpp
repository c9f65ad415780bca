// SPDX-License-Identifier: BSD-3-Clause
// Bindings that end while handlers run on their object: nobody waits for ever, and whoever must
// keep the object is told.
#include "contexts.h"

#include <atomic>
#include <memory>
#include <thread>

namespace unbinding_test {

using namespace plexus;
using namespace plexus::testing;

struct Door {};
struct Session {
    ~Session() { alive = false; }
    std::atomic<bool> alive{true};
};
constexpr Request<int(Session&, GlobalPointer<Door>)> work{"unbinding.work"};
constexpr Request<int(Door&, int)> close_session{"unbinding.close"};
constexpr Request<int(Door&)> gate{"unbinding.gate"};

/// The owner's session works on the owner's pool, and waits there for an answer of the user's gate.
struct Two {
    explicit Two(Values owners = {})
      : owner(by("tcp", std::move(owners)))
      , user(by("tcp")) {
        user.on(gate, [this](Door&, Reply<int> later) { owed.add(std::move(later)); });
        owner.on(work, threaded, [this](Session& it, const GlobalPointer<Door>& whom) {
            const int answer = whom.call(gate).get();
            was_alive = it.alive.load();
            return answer;
        });
        owner.on(close_session, [this](Door&, int how) {
            if (how == 1) {
                bound.reset([kept = std::move(session), this] { ended = true; });
                return 0;
            }
            return static_cast<int>(bound.reset());
        });
        session = std::make_shared<Session>();
        bound = owner.bind(*session);
        door_bound = owner.bind(door);
        gate_bound = user.bind(door);
        far = handed(user, bound.pointer());
        far_door = handed(user, door_bound.pointer());
        back = handed(owner, gate_bound.pointer());
    }
    Future<int> start_work() {
        auto future = far.call(work, gate_bound.pointer());
        reply = owed.take(); // the handler has asked, and waits
        return future;
    }
    Reply<int> reply;
    Door door;
    std::shared_ptr<Session> session;
    std::atomic<bool> was_alive{false};
    std::atomic<bool> ended{false};
    Owed<int> owed;
    Context owner;
    Context user;
    Bound<Session> bound;
    Bound<Door> door_bound;
    Bound<Door> gate_bound;
    GlobalPointer<Session> far;
    GlobalPointer<Door> far_door;
    GlobalPointer<Door> back;
};

TEST_CASE("an inline handler that unbinds an object whose handler waits for progress is told so") {
    Two two({{"handlers.threads", "1"}, {"progress.close_timeout", "60 s"}});
    Future<int> working = two.start_work();
    REQUIRE(two.reply);
    Future<int> queued = two.far.call(work, two.gate_bound.pointer());
    CHECK(static_cast<Status>(within(two.far_door.call(close_session, 0))) == Status::would_deadlock);
    CHECK(refusal_of(two.far.call(work, two.gate_bound.pointer())).status == Status::dead_pointer);
    two.reply.send(5);
    CHECK(within(std::move(working)) == 5);
    CHECK(two.was_alive);
    CHECK(refusal_of(std::move(queued)).status == Status::dead_pointer); // it had not begun
}

TEST_CASE("what is given to reset() runs when the last handler on the object has ended") {
    Two two(Values{{"progress.close_timeout", "60 s"}});
    Future<int> working = two.start_work();
    REQUIRE(two.reply);
    CHECK(within(two.far_door.call(close_session, 1)) == 0);
    CHECK_FALSE(two.ended);
    two.reply.send(6);
    CHECK(within(std::move(working)) == 6);
    CHECK(two.was_alive);
    CHECK(eventually(kLimit, [&] { return two.ended.load(); }));
}

TEST_CASE("unbinding waits for a handler that never ends no longer than progress.close_timeout") {
    Two two(Values{{"progress.close_timeout", "50 ms"}});
    Future<int> working = two.start_work();
    REQUIRE(two.reply);
    {
        const auto said = expect_warning("still in use after progress.close_timeout");
        const Bound<Session> ends = std::move(two.bound);
        static_cast<void>(ends);
    }
    CHECK(refusal_of(two.far.call(work, two.gate_bound.pointer())).status == Status::dead_pointer);
    two.reply.send(7);
    CHECK(within(std::move(working)) == 7);
}

TEST_CASE("a handler that is given time ends before its object is unbound") {
    Two two;
    Future<int> working = two.start_work();
    REQUIRE(two.reply);
    std::atomic<int> status{-1};
    std::thread unbinder([&] { status = static_cast<int>(two.bound.reset()); });
    two.reply.send(8);
    CHECK(within(std::move(working)) == 8);
    unbinder.join();
    CHECK(static_cast<Status>(status.load()) == Status::ok);
}

TEST_CASE(
    "a binding that is given another object ends the first, and one that has ended calls back at once") {
    Context context(by("local"));
    context.on(close_session, [](Door&, int x) { return x; });
    Door one;
    Door two;
    Bound<Door> bound = context.bind(one);
    const GlobalPointer<Door> first = bound.pointer();
    CHECK(within(first.call(close_session, 3)) == 3);
    bound = context.bind(two);
    CHECK(refusal_of(first.call(close_session, 4)).status == Status::dead_pointer);
    CHECK(within(bound.pointer().call(close_session, 5)) == 5);
    bound.reset();
    bool called = false;
    bound.reset([&] { called = true; });
    CHECK(called);
}

} // namespace unbinding_test
