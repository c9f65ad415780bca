// SPDX-License-Identifier: BSD-3-Clause
// Requests of one thread on one pointer arrive in order and once each: many of them, from
// many threads, from inside handlers, and while the pointer changes its method.
#include "contexts.h"

#include <atomic>
#include <thread>

namespace order_test {

using namespace plexus;
using namespace plexus::testing;

struct Log {
    std::vector<std::uint32_t> next = std::vector<std::uint32_t>(16);
    std::uint32_t wrong = 0;
    std::uint64_t bytes = 0;
};
struct Echo {
    std::uint32_t next = 0;
    std::uint32_t wrong = 0;
    std::atomic<std::uint32_t> came{0}; // all that the waiting thread reads
};

constexpr Request<void(Log&, std::uint32_t, std::uint32_t)> append{"order.append"};
constexpr Request<void(Log&, std::uint32_t, std::uint32_t, std::vector<std::byte>)> append_with{
    "order.append_with"};
constexpr Request<std::vector<std::uint32_t>(Log&)> seen{"order.seen"};
constexpr Request<std::uint32_t(Log&)> wrong{"order.wrong"};
constexpr Request<void(Log&, GlobalPointer<Echo>, std::uint32_t)> bounce{"order.bounce"};
constexpr Request<void(Echo&, std::uint32_t)> back{"order.back"};

void note(Log& log, std::uint32_t sender, std::uint32_t number) {
    if (number != log.next[sender]) ++log.wrong;
    log.next[sender] = number + 1;
}

struct Keeper {
    explicit Keeper(const std::string& methods)
      : context(by(methods)) {
        context.on(append, note);
        context.on(append_with, [](Log& it, std::uint32_t sender, std::uint32_t number,
                                   const std::vector<std::byte>& load) {
            note(it, sender, number);
            it.bytes += load.size();
        });
        context.on(seen, [](Log& it) { return it.next; });
        context.on(wrong, [](Log& it) { return it.wrong; });
        context.on(bounce,
                   [](Log&, const GlobalPointer<Echo>& to, std::uint32_t number) { to.send(back, number); });
        bound = context.bind(log);
    }
    Log log;
    Context context;
    Bound<Log> bound;
};

TEST_CASE("ten thousand requests arrive in order, each once") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Keeper keeper(method);
    Context user(by(method));
    const auto far = handed(user, keeper.bound.pointer());
    for (std::uint32_t i = 0; i < 10'000; ++i) far.send(append, 0u, i);
    CHECK(within(far.call(seen))[0] == 10'000);
    CHECK(within(far.call(wrong)) == 0);
}

TEST_CASE("threads that send on one pointer each keep their own order") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    constexpr std::uint32_t kThreads = 4;
    constexpr std::uint32_t kEach = 2000;
    Keeper keeper(method);
    Context user(by(method));
    const auto far = handed(user, keeper.bound.pointer());
    std::atomic<std::uint32_t> failed{0};
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (std::uint32_t i = 0; i < kEach; ++i)
                if (far.try_send(append, t, i) != Status::ok) ++failed;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failed == 0);
    std::vector<std::uint32_t> wanted(16);
    std::fill_n(wanted.begin(), kThreads, kEach);
    CHECK(within(far.call(seen)) == wanted);
    CHECK(within(far.call(wrong)) == 0);
}

TEST_CASE("large and small requests do not overtake each other") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Keeper keeper(method);
    Context user(by(method));
    const auto far = handed(user, keeper.bound.pointer());
    const std::size_t sizes[] = {0, 100, 5000, 70'000, 1 << 20};
    for (std::uint32_t i = 0; i < 100; ++i)
        far.send(append_with, 0u, i, std::vector<std::byte>(sizes[i % 5]));
    CHECK(within(far.call(seen))[0] == 100);
    CHECK(within(far.call(wrong)) == 0);
}

TEST_CASE("an inline handler sends back, and its requests arrive in order") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Keeper keeper(method);
    Context user(by(method));
    Echo echo;
    user.on(back, [](Echo& it, std::uint32_t number) {
        if (number != it.next) ++it.wrong;
        it.next = number + 1;
        it.came.fetch_add(1, std::memory_order_release); // [came] pairs with the test's load
    });
    const Bound<Echo> mine = user.bind(echo);
    const auto far = handed(user, keeper.bound.pointer());
    for (std::uint32_t i = 0; i < 2000; ++i) far.send(bounce, mine.pointer(), i);
    const bool all =
        eventually(kLimit, [&] { return echo.came.load(std::memory_order_acquire) == 2000; }); // [came]
    CHECK(all);
    CHECK(echo.wrong == 0);
}

TEST_CASE("a pointer that changes its method under load keeps order and loses nothing") {
    Keeper keeper("local, shm, tcp");
    Context user(by("local, shm, tcp"));
    auto far = handed(user, keeper.bound.pointer());
    const std::vector<std::byte> load(3000);
    const char* const ways[] = {"shm", "tcp", "local", "tcp", "shm", "local"};
    std::uint32_t number = 0;
    for (int round = 0; round < 4; ++round) {
        for (const char* way : ways) {
            far.use(way);
            for (int i = 0; i < 100; ++i, ++number)
                number % 3 == 0 ? far.send(append_with, 0u, number, load) : far.send(append, 0u, number);
            CHECK(far.method() == way);
        }
    }
    CHECK(within(far.call(seen))[0] == number);
    CHECK(within(far.call(wrong)) == 0);
}

} // namespace order_test
