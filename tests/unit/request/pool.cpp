// SPDX-License-Identifier: BSD-3-Clause
// The threads of threaded handlers: bounded in bytes, and everything taken is run.
#include "request/pool.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <atomic>
#include <memory>
#include <set>

using namespace plexus::testing;
using plexus::request::Pool;

TEST_CASE("what was submitted is run, on the pool's threads, before stop() returns") {
    std::atomic<int> ran{0};
    std::atomic<int> here{0};
    const auto self = std::this_thread::get_id();
    Pool pool(3, 1 << 20);
    for (int i = 0; i < 500; ++i)
        REQUIRE(pool.submit(8, [&] {
            ++ran;
            if (std::this_thread::get_id() == self) ++here;
        }));
    pool.stop();
    CHECK(ran == 500);
    CHECK(here == 0);
    CHECK_FALSE(pool.submit(8, [&] { ++ran; }));
    CHECK(ran == 500);
}

TEST_CASE("as many tasks run at once as there are threads") {
    std::atomic<int> inside{0};
    std::atomic<bool> open{false};
    Pool pool(3, 1 << 20);
    for (int i = 0; i < 5; ++i)
        REQUIRE(pool.submit(1, [&] {
            ++inside;
            while (!open) std::this_thread::yield();
        }));
    CHECK(eventually(5s, [&] { return inside == 3; }));
    std::this_thread::sleep_for(10ms);
    CHECK(inside == 3);
    open = true;
    pool.stop();
    CHECK(inside == 5);
}

TEST_CASE("tasks beyond the bound are refused until others are over, a single one never is") {
    std::atomic<bool> open{false};
    std::atomic<int> ran{0};
    const auto task = [&] {
        while (!open) std::this_thread::yield();
        ++ran;
    };
    Pool pool(1, 100);
    CHECK(pool.submit(5'000, task)); // larger than the bound, but alone
    CHECK_FALSE(pool.submit(1, task));
    open = true;
    CHECK(eventually(5s, [&] { return pool.submit(60, task); }));
    pool.stop();
    CHECK(ran == 2);
}

TEST_CASE("what has not begun by the deadline of stop() is dropped, and counted") {
    std::atomic<bool> begun{false};
    std::atomic<int> ran{0};
    Pool pool(1, 1 << 20);
    REQUIRE(pool.submit(1, [&] {
        begun = true;
        if (eventually(10s, [&] { return pool.stopping(); })) ++ran;
    }));
    for (int i = 0; i < 5; ++i) REQUIRE(pool.submit(1, [&] { ++ran; }));
    REQUIRE(eventually(10s, [&] { return begun.load(); }));
    CHECK(pool.stop(Pool::Clock::now()) == 5);
    CHECK(ran == 1);
}

TEST_CASE("what a task holds ends with it") {
    const auto held = std::make_shared<int>(1);
    Pool pool(1, 100);
    REQUIRE(pool.submit(1, [held] {}));
    CHECK(eventually(5s, [&] { return held.use_count() == 1; }));
}
