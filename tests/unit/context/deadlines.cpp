// SPDX-License-Identifier: BSD-3-Clause
// Limits in time: of calls, of sends, of what waits at the far side; and calls that are cancelled.
#include "contexts.h"

#include "context/core.h"
#include "transport/peer.h"

#include <atomic>
#include <thread>

namespace deadlines_test {

using namespace plexus;
using namespace plexus::testing;

struct Clerk {};
constexpr Request<int(Clerk&, int)> echo{"deadlines.echo"};
constexpr Request<int(Clerk&, int)> never{"deadlines.never"};
constexpr Request<int(Clerk&, int)> busy{"deadlines.busy"};
constexpr Request<void(Clerk&, int)> note{"deadlines.note"};
constexpr Request<void(Clerk&, std::span<const std::byte>)> pile{"deadlines.pile"};

struct Two {
    explicit Two(const std::string& method, Values owners = {}, Values users = {})
      : owner(by(method, std::move(owners)))
      , user(by(method, std::move(users))) {
        owner.on(echo, [](Clerk&, int x) { return x; });
        owner.on(never, [this](Clerk&, int, Reply<int> reply) { owed.add(std::move(reply)); });
        owner.on(busy, threaded, [this](Clerk&, int x) {
            ++begun;
            eventually(kLimit, [this] { return go.load(); });
            return x;
        });
        owner.on(note, threaded, [this](Clerk&, int) { ++noted; });
        bound = owner.bind(clerk);
        far = handed(user, bound.pointer());
        CHECK(within(far.call(echo, 0)) == 0);
    }
    ~Two() { go = true; }
    Owed<int> owed;
    std::atomic<int> begun{0};
    std::atomic<int> noted{0};
    std::atomic<bool> go{false};
    Clerk clerk;
    Context owner;
    Context user;
    Bound<Clerk> bound;
    GlobalPointer<Clerk> far;
};

TEST_CASE("a deadline is whole milliseconds, at least one") {
    CHECK(deadline(std::chrono::seconds(2)).milliseconds == 2000);
    CHECK(deadline(std::chrono::microseconds(1500)).milliseconds == 2);
    CHECK(deadline(std::chrono::nanoseconds(0)).milliseconds == 1);
    CHECK(deadline(std::chrono::seconds(-5)).milliseconds == 1);
    CHECK(deadline(std::chrono::hours(24 * 365)).milliseconds == UINT32_MAX - 1);
    CHECK(no_deadline != deadline(std::chrono::hours(24 * 365)));
}

TEST_CASE("a call without an answer fails at its deadline, and a late answer ends no other") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    const bool progress_thread = GENERATE(true, false);
    CAPTURE(method, progress_thread);
    Two two(method, {}, {{"progress.thread", progress_thread ? "true" : "false"}});
    const auto start = std::chrono::steady_clock::now();
    const Refusal refusal = refusal_of(two.far.with(deadline(20ms)).call(never, 1));
    CHECK(refusal.status == Status::deadline_exceeded);
    CHECK(refusal.says("may have carried it out"));
    CHECK(std::chrono::steady_clock::now() - start >= 20ms);
    Future<int> next = two.far.call(busy, 3);
    CHECK(eventually(kLimit, [&] { return two.begun == 1; }));
    two.owed.take().send(2); // too late
    CHECK(within(two.far.call(echo, 4)) == 4);
    CHECK_FALSE(next.ready());
    two.go = true;
    CHECK(within(std::move(next)) == 3);
}

TEST_CASE("deadlines come from the call, the pointer or the context, in this order") {
    Two two("tcp", {}, {{"limits.call_deadline", "300 ms"}}); // long enough for an answer beside other work
    CHECK(refusal_of(two.far.call(never, 1)).status == Status::deadline_exceeded);
    auto patient = two.far;
    patient.set_deadline(no_deadline);
    Future<int> waits = patient.call(never, 2);
    CHECK_FALSE(waits.wait_for(500ms));
    auto quick = two.far.with(deadline(1h));
    CHECK(quick.deadline() == deadline(1h));
    CHECK(refusal_of(quick.with(deadline(5ms)).call(never, 3)).status == Status::deadline_exceeded);
    CHECK(within(two.far.call(echo, 4)) == 4);
    CHECK(quick == two.far); // the same object
    CHECK(waits.cancel());
}

TEST_CASE("of many calls with deadlines each ends in its own time") {
    Two two("shm");
    std::vector<Future<int>> late;
    std::vector<Future<int>> good;
    for (int i = 0; i < 300; ++i) {
        late.push_back(two.far.with(deadline(std::chrono::milliseconds(1 + (i * 37) % 50))).call(never, i));
        good.push_back(two.far.with(deadline(1h)).call(echo, i));
    }
    for (int i = 0; i < 300; ++i) {
        CHECK(within(std::move(good[static_cast<std::size_t>(i)])) == i);
        CHECK(refusal_of(std::move(late[static_cast<std::size_t>(i)])).status == Status::deadline_exceeded);
    }
}

TEST_CASE("a continuation hears of the deadline, without anybody waiting") {
    Two two("shm"); // where nothing else is to be done in time
    std::atomic<int> heard{0};
    two.far.with(deadline(10ms)).call(never, 1).then([&](Future<int> done) {
        heard = static_cast<int>(refusal_of([&] { done.get(); }).status);
    });
    CHECK(eventually(kLimit, [&] { return heard == static_cast<int>(Status::deadline_exceeded); }));
}

TEST_CASE("what is out of date is dropped before its handler begins, and its sender hears so") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    const auto logged = expect_warning("deadline had passed");
    Complaints complaints;
    Two two(method, {{"handlers.threads", "1"}});
    complaints.listen_to(two.user);
    Future<int> holds = two.far.call(busy, 1);
    CHECK(eventually(kLimit, [&] { return two.begun == 1; }));
    Future<int> late = two.far.with(deadline(10ms)).call(busy, 2);
    two.far.with(deadline(10ms)).send(note, 3);
    CHECK(two.far.with(deadline(10ms)).try_send(note, 4) == Status::ok);
    two.far.with(deadline(1h)).send(note, 5);
    CHECK(refusal_of(std::move(late)).status == Status::deadline_exceeded);
    std::this_thread::sleep_for(20ms); // the deadlines pass over there, too
    two.go = true;
    CHECK(within(std::move(holds)) == 1);
    CHECK(complaints.next().status == Status::deadline_exceeded);
    CHECK(complaints.next().status == Status::deadline_exceeded);
    CHECK(eventually(kLimit, [&] { return two.noted == 1; }));
    CHECK(two.begun == 1);
    CHECK(logged.count() > 0); // at the owner, too
}

TEST_CASE("a send that finds no room before its deadline says so, and nothing of it arrives") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    std::atomic<bool> go{false};
    std::atomic<std::size_t> arrived{0};
    std::atomic<int> inside{0};
    Context owner(by(method));
    Context user(by(method, {{"limits.handler_queue", "1 MiB"}}));
    owner.on(pile, [&](Clerk&, std::span<const std::byte>) {
        ++inside;
        eventually(kLimit, [&] { return go.load(); }); // the owner reads nothing meanwhile
        ++arrived;
    });
    Clerk clerk;
    const Bound<Clerk> bound = owner.bind(clerk);
    const auto far = handed(user, bound.pointer());
    const std::size_t size = GENERATE(1000u, 300'000u);
    CAPTURE(size);
    const std::vector<std::byte> load(size);
    std::size_t sent = 0;
    Refusal refusal;
    const auto limited = far.with(deadline(100ms));
    while (refusal.status == Status::ok && sent < 1'000'000) {
        refusal = refusal_of([&] { limited.send(pile, std::span(load)); });
        sent += refusal.status == Status::ok ? 1 : 0;
    }
    CHECK(refusal.status == Status::timed_out);
    CHECK(refusal.says("deadline"));
    CHECK(limited.try_send(pile, std::span(load)) == Status::timed_out);
    CHECK(refusal_of(limited.call(pile, std::span(load))).status == Status::deadline_exceeded);
    go = true;
    CHECK(eventually(kLimit, [&] { return arrived == sent; }));
}

TEST_CASE("a call that is cancelled ends at once, and its answer is dropped") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, {}, {{"limits.calls", "1"}});
    Future<int> future = two.far.call(busy, 1);
    CHECK(eventually(kLimit, [&] { return two.begun == 1; }));
    CHECK(future.cancel());
    CHECK(future.ready());
    CHECK_FALSE(future.cancel());
    CHECK(refusal_of(std::move(future)).status == Status::cancelled);
    Future<int> next = two.far.call(busy, 2); // the only place is free again
    two.go = true;
    CHECK(within(std::move(next)) == 2);
    Future<int> over = two.far.call(echo, 3);
    over.wait();
    CHECK_FALSE(over.cancel());
    CHECK(within(std::move(over)) == 3);
}

TEST_CASE("a thread that waits for a call that another one cancels goes on") {
    Two two("tcp");
    auto future = std::make_shared<Future<int>>(two.far.call(busy, 1));
    std::atomic<bool> ended{false};
    std::thread waiter([&] {
        future->wait();
        ended = true;
    });
    CHECK(eventually(kLimit, [&] { return two.begun == 1; }));
    CHECK_FALSE(ended);
    CHECK(future->cancel());
    waiter.join();
}

TEST_CASE("a call that is cancelled before its handler begins is dropped at the far side") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, {{"handlers.threads", "1"}});
    Future<int> first = two.far.call(busy, 1);
    CHECK(eventually(kLimit, [&] { return two.begun == 1; }));
    std::vector<Future<int>> waiting;
    for (int i = 0; i < 1000; ++i) waiting.push_back(two.far.call(busy, i));
    CHECK(within(two.far.call(echo, 2)) == 2); // they have come
    for (auto& each : waiting) CHECK(each.cancel());
    const auto peer = two.owner.core()->endpoint().peer(two.user.id());
    auto& known = static_cast<request::PeerRequests&>(*peer->attachment).waiting;
    CHECK(eventually(kLimit, [&] { return known.remembered() == 1000; }));
    Future<int> last = two.far.call(busy, 3);
    two.go = true;
    CHECK(within(std::move(first)) == 1);
    CHECK(within(std::move(last)) == 3);
    CHECK(two.begun == 2);
    CHECK(known.remembered() == 0);
    for (auto& each : waiting) CHECK(refusal_of(std::move(each)).status == Status::cancelled);
}

TEST_CASE("errors say what a peer is called, if it has said so") {
    Two two("tcp", {{"name", "harbour"}});
    Clerk here;
    two.user.on(echo, [](Clerk&, int x) { return x; });
    const Bound<Clerk> bound = two.user.bind(here);
    CHECK_FALSE(refusal_of(two.far.with(deadline(100ms)).call(never, 1)).says("harbour"));
    CHECK(within(handed(two.owner, bound.pointer()).call(echo, 1)) == 1);
    CHECK(refusal_of(two.far.with(deadline(100ms)).call(never, 2)).says("(harbour) did not answer"));
}

TEST_CASE("a transfer has the deadline of its span or of its context") {
    const bool of_span = GENERATE(true, false);
    CAPTURE(of_span);
    Context owner(by("tcp", {{"progress.thread", "false"}})); // it answers nothing
    Context user(by("tcp", {{"limits.call_deadline", of_span ? "0" : "20 ms"}}));
    std::vector<double> numbers(8);
    const BoundSpan<double> memory = owner.bind(std::span(numbers));
    Clerk clerk;
    const Bound<Clerk> door = owner.bind(clerk);
    const auto far = handed(user, door.pointer());
    GlobalSpan<double> span(memory.span().target(), far.route(), 0, 8);
    if (of_span) span = span.with(deadline(20ms)).subspan(2, 4);
    std::vector<double> into(4);
    for (Future<void> transfer : {span.get(0, std::span(into)), span.put(0, std::span<const double>(into))}) {
        const Refusal refusal = refusal_of(std::move(transfer));
        CHECK(refusal.status == Status::deadline_exceeded);
        CHECK(refusal.says("deadline"));
    }
}

} // namespace deadlines_test
