// SPDX-License-Identifier: BSD-3-Clause
// Every way to wait for an answer, and the threads that handlers run on.
#include "contexts.h"

#include "plexus/asio.h"

#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <coroutine>
#include <exception>
#include <future>
#include <thread>

// clang 14 has no coroutines that Asio knows with this standard library.
#if defined(ASIO_HAS_CO_AWAIT)
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#endif

namespace waiting_test {

using namespace plexus;
using namespace plexus::testing;

struct Desk {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
};

constexpr Request<int(Desk&, int)> twice{"waiting.twice"};
constexpr Request<int(Desk&, int)> slowly{"waiting.slowly"};
#if defined(ASIO_HAS_CO_AWAIT)
constexpr Request<int(Desk&, int)> never{"waiting.never"};
#endif
constexpr Request<int(Desk&, GlobalPointer<Desk>, int)> ask_inline{"waiting.ask_inline"};
constexpr Request<int(Desk&, GlobalPointer<Desk>, int)> ask_threaded{"waiting.ask_threaded"};

/// Starts at once; what it throws is kept for its caller.
struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

Task ask_thrice(GlobalPointer<Desk> far, std::atomic<int>& answer) {
    int value = 1;
    for (int i = 0; i < 3; ++i) value = co_await far.call(twice, value);
    answer.store(value);
}

struct Two {
    explicit Two(const std::string& method)
      : owner(by(method, {{"handlers.threads", "3"}}))
      , user(by(method)) {
        for (Context* each : {&owner, &user}) each->on(twice, [](Desk&, int x) { return 2 * x; });
        owner.on(slowly, threaded, [](Desk& it, int x) {
            const int now = it.inside.fetch_add(1) + 1;
            int most = it.most.load();
            while (now > most && !it.most.compare_exchange_weak(most, now)) {}
            eventually(std::chrono::seconds(2),
                       [&] { return it.most.load() >= 3; }); // all three threads are here
            it.inside.fetch_sub(1);
            return x;
        });
        owner.on(ask_inline,
                 [](Desk&, const GlobalPointer<Desk>& whom, int x) { return whom.call(twice, x).get(); });
        owner.on(ask_threaded, threaded,
                 [](Desk&, const GlobalPointer<Desk>& whom, int x) { return whom.call(twice, x).get(); });
        bound = owner.bind(desk);
        own = user.bind(users_desk);
        far = handed(user, bound.pointer());
    }
    Desk desk;
    Desk users_desk;
    Context owner;
    Context user;
    Bound<Desk> bound;
    Bound<Desk> own;
    GlobalPointer<Desk> far;
};

TEST_CASE("then() runs once the answer is there") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    std::atomic<int> answer{0};
    std::atomic<int> runs{0};
    two.far.call(twice, 21).then([&](Future<int> done) {
        answer = done.get();
        ++runs;
    });
    CHECK(eventually(kLimit, [&] { return runs.load() > 0; }));
    CHECK(answer == 42);

    Future<int> ready = two.far.call(twice, 4);
    ready.wait();
    std::move(ready).then([&](Future<int> done) {
        answer = done.get();
        ++runs;
    });
    CHECK(answer == 8); // ready before: ran here
    CHECK(runs == 2);
}

TEST_CASE("a coroutine awaits one answer after the other") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    std::atomic<int> answer{0};
    ask_thrice(two.far, answer);
    CHECK(eventually(kLimit, [&] { return answer.load() == 8; }));
}

TEST_CASE("an Asio completion token gets the answer, or the error") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    std::future<int> answer = async_call(two.far, twice, std::tuple(8), asio::use_future);
    REQUIRE(answer.wait_for(kLimit * kPatience) == std::future_status::ready);
    CHECK(answer.get() == 16);

    asio::io_context loop;
    std::error_code failure;
    two.bound.reset();
    async_call(
        two.far, twice, std::tuple(8),
        asio::bind_executor(loop.get_executor(), [&](std::error_code error, int) { failure = error; }));
    loop.run_for(kLimit * kPatience);
    CHECK(failure == make_error_code(Status::dead_pointer));
}

TEST_CASE("wait_for() gives up in time, and the answer still comes") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    Future<int> answer = two.far.call(slowly, 5);
    CHECK_FALSE(answer.wait_for(std::chrono::milliseconds(20)));
    two.desk.most = 3; // lets it go on
    CHECK(within(std::move(answer)) == 5);
}

TEST_CASE("get() inside an inline handler is an error, not a deadlock") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    const Refusal refusal = refusal_of(two.far.call(ask_inline, two.own.pointer(), 3));
    CHECK(refusal.status == Status::would_deadlock);
    CHECK(refusal.says("threaded"));
    CHECK(within(two.far.call(twice, 3)) == 6);
}

TEST_CASE("a threaded handler may wait for an answer") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    CHECK(within(two.far.call(ask_threaded, two.own.pointer(), 3)) == 6);
}

TEST_CASE("threaded handlers run side by side, as many as there are threads") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    std::vector<Future<int>> answers;
    for (int i = 0; i < 6; ++i) answers.push_back(two.far.call(slowly, i));
    CHECK(within(two.far.call(twice, 1)) == 2); // inline requests go on meanwhile
    for (int i = 0; i < 6; ++i) CHECK(within(std::move(answers[static_cast<std::size_t>(i)])) == i);
    CHECK(two.desk.most == 3);
}

TEST_CASE("many threads call and wait at once") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 200; ++i)
                if (two.far.call(twice, 1000 * t + i).get() == 2 * (1000 * t + i)) ++right;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 800);
}

#if defined(ASIO_HAS_CO_AWAIT)
TEST_CASE("an async_call beside a timer returns at the timer") {
    using namespace asio::experimental::awaitable_operators;
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    Owed<int> owed;
    two.owner.on(never, [&](Desk&, int, Reply<int> reply) { owed.add(std::move(reply)); });
    asio::io_context loop;
    std::size_t first = 9;
    int answer = 0;
    asio::co_spawn(
        loop,
        [&]() -> asio::awaitable<void> {
            asio::steady_timer timer(loop, std::chrono::milliseconds(20));
            const auto either = co_await (async_call(two.far, never, std::tuple(1), asio::use_awaitable) ||
                                          timer.async_wait(asio::use_awaitable));
            first = either.index();
            timer.expires_after(std::chrono::hours(1));
            const auto other = co_await (async_call(two.far, twice, std::tuple(4), asio::use_awaitable) ||
                                         timer.async_wait(asio::use_awaitable));
            if (other.index() == 0) answer = std::get<0>(other);
        },
        asio::detached);
    loop.run_for(kLimit * kPatience);
    CHECK(first == 1);
    CHECK(answer == 8);
    owed.take().send(2); // too late: nobody hears it
    CHECK(within(two.far.call(twice, 3)) == 6);
}
#endif

} // namespace waiting_test
