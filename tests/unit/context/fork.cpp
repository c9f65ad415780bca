// SPDX-License-Identifier: BSD-3-Clause
// fork() without exec: the context of the child is dead and harmless, and the parent does not notice.
// Then signals: a peer that goes away does not end a process by SIGPIPE.
#include "contexts.h"
#include "key_file.h"
#include "support/process.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

namespace fork_test {

using namespace plexus;
using namespace plexus::testing;

struct Counter {
    std::atomic<int> count{0};
};
constexpr Request<int(Counter&, int)> add{"fork.add"};
constexpr Request<void(Counter&)> increment{"fork.increment"};

/// Two contexts that talk, one of them bound to; on the heap, so that a child can destroy them.
struct Two {
    explicit Two(const std::string& methods)
      : owner(std::make_unique<Context>(by(methods)))
      , user(std::make_unique<Context>(by(methods))) {
        owner->on(add, [](Counter& it, int by_how_much) { return it.count += by_how_much; });
        owner->on(increment, [](Counter& it) { ++it.count; });
        bound = owner->bind(counter);
        far = handed(*user, bound.pointer());
        owner->at_close([this] { ++closed; });
    }
    Counter counter;
    int closed = 0; ///< how often the action of at_close() ran
    std::unique_ptr<Context> owner;
    std::unique_ptr<Context> user;
    Bound<Counter> bound;
    std::optional<GlobalPointer<Counter>> far;
};

/// The status that a function throws; ok if it throws nothing.
template <class F>
Status status_of(F&& function) {
    return refusal_of(std::forward<F>(function)).status;
}

/// What a forked child may try, and how each ends. 0: as promised, else which was not.
int try_everything(Two& two) {
    if (two.far->try_send(increment) != Status::closed) return 1;
    if (status_of([&] { two.far->send(increment); }) != Status::closed) return 2;
    if (status_of([&] { return two.far->call(add, 1).get(); }) != Status::closed) return 3;
    if (two.user->progress() != 0 || two.owner->progress() != 0) return 4;
    if (two.user->run_for(std::chrono::milliseconds(1))) return 5;
    if (status_of([&] { two.user->arm(); }) != Status::closed) return 6;
    if (status_of([&] { two.owner->publish("fork.counter", two.bound.pointer()); }) != Status::closed)
        return 7;
    if (status_of([&] { return two.user->lookup<Counter>("fork.counter").get(); }) != Status::closed)
        return 8;
    if (status_of([&] { two.user->fence().get(); }) != Status::closed) return 9;
    if (status_of([&] { return two.owner->bind(two.counter); }) != Status::closed) return 10;
    if (status_of([&] { return two.user->lanes(); }) != Status::closed) return 11;
    bool acted = false;
    if (status_of([&] { two.owner->at_close([&] { acted = true; }); }) != Status::closed) return 12;
    two.user->stop(); // wakes nobody
    two.far.reset();
    two.bound = {};
    two.user.reset();
    two.owner.reset();
    return two.closed != 0 || acted ? 13 : 0;
}

namespace {
bool in_child = false;
} // namespace

/// Asked by the leak sanitizer at exit. What the parent's other threads keep in thread-local memory is
/// reachable from nowhere in a child.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return in_child ? 1 : 0; }

TEST_CASE("in a forked child every call ends with `closed`, and the parent's calls go on") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    Complaints complaints;
    complaints.listen_to(*two.owner);
    Complaints more;
    more.listen_to(*two.user);
    REQUIRE(within(two.far->call(add, 1)) == 1);
    Process child([&](Channel&) -> int {
        in_child = true;
        std::exit(try_everything(two)); // as a program does: runs what exit() runs
    });
    for (int i = 2; i <= 1'000; ++i) REQUIRE(within(two.far->call(add, 1)) == i);
    CHECK(child.code(60s) == 0);
    for (int i = 1'001; i <= 1'100; ++i) REQUIRE(within(two.far->call(add, 1)) == i);
    CHECK(complaints.count() + more.count() == 0);
}

TEST_CASE("a child that is forked while other threads send and wait does not hang") {
    if (kSanitized) SKIP_TEST("the sanitizers' own locks do not survive a fork beside threads");
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
            while (!stop) {
                two.far->send(increment);
                within(two.far->call(add, 1));
                ++calls;
            }
        });
    for (int round = 0; round < 20; ++round) {
        const int before = calls;
        Process child([&](Channel&) -> int {
            if (const int missed = try_everything(two); missed != 0) ::_exit(missed);
            Two own(method);
            ::_exit(within(own.far->call(add, 7)) == 7 ? 0 : 20);
        });
        CHECK(child.code(60s) == 0);
        CHECK(eventually(kLimit, [&] { return calls > before; }));
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(eventually(kLimit, [&] { return two.counter.count == 2 * calls; }));
}

TEST_CASE("a forked child can start a context of its own") {
    if (kSanitized) SKIP_TEST("the sanitizers allow no threads in a child of a process with threads");
    Two two("shm");
    REQUIRE(within(two.far->call(add, 1)) == 1);
    Process child([&](Channel&) -> int {
        Two own("shm");
        if (within(own.far->call(add, 7)) != 7) return 1;
        return two.far->try_send(increment) == Status::closed ? 0 : 2;
    });
    CHECK(child.code(60s) == 0);
    CHECK(within(two.far->call(add, 1)) == 2);
}

TEST_CASE("a peer that is killed while it is sent to does not end this process by SIGPIPE") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    const KeyFile key;
    Process child([&](Channel& channel) {
        Context context(by(method, {{"job.key_file", key.path()}}));
        Counter counter;
        context.on(increment, [](Counter& it) { ++it.count; });
        const auto bound = context.bind(counter);
        channel.put(bound.pointer().save());
        context.run();
        return 0;
    });
    const auto saved = child.channel().take(20s);
    REQUIRE(saved.has_value());
    Process sender([&](Channel&) {
        std::signal(SIGPIPE, SIG_DFL);
        const auto mute = expect_warning("");
        Values values{{"job.key_file", key.path()}};
        if (method == "tcp") values.emplace("method.tcp.connect_timeout", "300 ms");
        Context context(by(method, values));
        const auto far = GlobalPointer<Counter>::load(context, *saved);
        for (int i = 0; i < 100; ++i)
            if (far.try_send(increment) != Status::ok) return 1;
        child.kill(SIGKILL);
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        while (std::chrono::steady_clock::now() < deadline)
            if (far.try_send(increment) != Status::ok) return 0;
        return 2;
    });
    CHECK(sender.code(60s) == 0);
}

} // namespace fork_test
