// SPDX-License-Identifier: BSD-3-Clause
// The threads of threaded handlers: bounded in bytes, and everything taken is run.
#include "request/pool.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/forbid_calls.h"
#include "support/log_guard.h"
#include "support/process.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <future>
#include <memory>
#include <pthread.h>
#include <set>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace pool_test {

using namespace plexus::testing;
using plexus::request::Pool;

namespace {

/// From here on this process can start no thread. False: no seccomp filters here.
bool forbid_threads() { return forbid_calls({SYS_clone3, SYS_clone}, EAGAIN); }

/// From here on this process has address space for the stack of one more thread. False: it can't be bounded.
bool allow_one_thread() {
    constexpr std::size_t kStack = std::size_t{1} << 30;
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0 || ::pthread_attr_setstacksize(&attributes, kStack) != 0 ||
        ::pthread_setattr_default_np(&attributes) != 0)
        return false;
    std::size_t pages = 0;
    if (!(std::ifstream("/proc/self/statm") >> pages)) return false;
    const rlim_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + kStack + kStack / 2;
    const rlimit limit{most, most};
    return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

/// Says at its end whether another thread could ask the pool something meanwhile.
struct AsksThePool {
    AsksThePool(Pool& asked, std::promise<bool>& told)
      : pool(asked)
      , answer(told) {}
    ~AsksThePool() {
        std::promise<void> done;
        const auto answered = done.get_future();
        std::thread asker([asked = &pool, done = std::move(done)]() mutable {
            (void)asked->stopping();
            done.set_value();
        });
        const bool at_once = answered.wait_for(5s) == std::future_status::ready;
        asker.detach(); // after a failure it waits for the lock that this thread has
        answer.set_value(at_once);
    }
    AsksThePool(const AsksThePool&) = delete;
    AsksThePool& operator=(const AsksThePool&) = delete;
    Pool& pool;
    std::promise<bool>& answer;
};

} // namespace

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

TEST_CASE("a pool is idle when its last task is over, not when that begins") {
    std::atomic<bool> begun{false};
    std::atomic<bool> open{false};
    Pool pool(2, 100);
    CHECK(pool.idle());
    REQUIRE(pool.submit(1, [&] {
        begun = true;
        while (!open) std::this_thread::yield();
    }));
    const bool runs = eventually(5s, [&] { return begun.load(); });
    const bool idle = pool.idle();
    open = true;
    CHECK(runs);
    CHECK_FALSE(idle);
    CHECK(eventually(5s, [&] { return pool.idle(); }));
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

TEST_CASE("what a task holds has ended when the pool is idle") {
    struct Slow {
        explicit Slow(std::atomic<bool>& flag)
          : ended(flag) {}
        std::atomic<bool>& ended;
        ~Slow() {
            std::this_thread::sleep_for(50ms);
            ended = true;
        }
    };
    std::atomic<bool> ended{false};
    Pool pool(1, 1000);
    REQUIRE(pool.submit(1, [held = std::make_shared<Slow>(ended)] {}));
    CHECK(eventually(20s, [&] { return pool.idle(); }));
    CHECK(ended);
}

TEST_CASE("what a task holds ends under no lock of the pool") {
    std::promise<bool> answer;
    auto answered = answer.get_future();
    Pool pool(1, 100);
    auto held = std::make_shared<AsksThePool>(pool, answer);
    REQUIRE(pool.submit(1, [held = std::move(held)] {}));
    CHECK(answered.get());
}

TEST_CASE("a task that does not return in time is left behind, named, and keeps what it touches") {
    std::atomic<bool> open{false};
    std::atomic<bool> begun{false};
    auto kept = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = kept;
    const int label = 0;
    {
        Pool pool(2, 1 << 20);
        REQUIRE(pool.submit(
            1,
            [&] {
                begun = true;
                while (!open) std::this_thread::yield();
            },
            &label));
        REQUIRE(pool.submit(1, [] {}));
        REQUIRE(eventually(5s, [&] { return begun.load(); }));
        std::atomic<int> idle{0};
        pool.close(Pool::Clock::now() + 10ms, [&] { ++idle; });
        CHECK_FALSE(pool.submit(1, [] {}));
        CHECK_FALSE(pool.idle());
        // The thread that has nothing to do needs a turn of a processor to end.
        const auto stuck = pool.release(Pool::Clock::now() + 500ms, std::move(kept));
        CHECK(stuck == std::vector<const void*>{&label});
        CHECK(idle == 0);
        CHECK_FALSE(watched.expired());
        pool.close(Pool::Clock::now()); // what is called then does not live as long
    }                                   // does not wait for it
    CHECK_FALSE(watched.expired());
    open = true;
    CHECK(eventually(5s, [&] { return watched.expired(); }));
}

TEST_CASE("a pool that closes tells when no task is left, and release() then leaves nothing behind") {
    std::atomic<bool> open{false};
    std::atomic<int> idle{0};
    Pool pool(3, 1 << 20);
    for (int i = 0; i < 5; ++i)
        REQUIRE(pool.submit(1, [&] {
            while (!open) std::this_thread::yield();
        }));
    pool.close(Pool::Clock::now() + 10s, [&] { ++idle; });
    CHECK(idle == 0);
    CHECK_FALSE(pool.idle());
    open = true;
    CHECK(eventually(5s, [&] { return idle > 0; }));
    CHECK(pool.idle());
    auto kept = std::make_shared<int>(1);
    CHECK(pool.release(Pool::Clock::now() + 10s, kept).empty());
    CHECK(kept.use_count() == 1);
    CHECK(pool.dropped() == 0);
}

TEST_CASE("where the system has no thread left a task is refused with the system's word") {
    if (kSanitized) SKIP_TEST("the sanitizers start threads in their own way");
    Process child([](Channel&) {
        Pool pool(2, 1 << 20);
        if (!forbid_threads()) return 77;
        try {
            (void)pool.submit(1, [] {});
            return 1;
        } catch (const std::system_error& error) {
            return error.code() == std::errc::resource_unavailable_try_again && pool.idle() ? 0 : 2;
        }
    });
    const auto end = child.wait(10s);
    if (end == 77) SKIP_TEST("this system allows no seccomp filter");
    CHECK(end == 0);
}

TEST_CASE("where the system has fewer threads left than a pool wants, those that it has run the tasks") {
    if (kSanitized) SKIP_TEST("the sanitizers take address space in their own way");
    Process child([](Channel&) {
        Pool pool(3, 1 << 20);
        if (!allow_one_thread()) return 77;
        std::atomic<int> ran{0};
        for (int i = 0; i < 5; ++i)
            if (!pool.submit(1, [&] { ++ran; })) return 1;
        pool.stop();
        return ran == 5 ? 0 : 2;
    });
    const auto end = child.wait(10s);
    if (end == 77) SKIP_TEST("the address space of this process can't be bounded");
    CHECK(end == 0);
}

} // namespace pool_test
