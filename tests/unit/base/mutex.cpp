// SPDX-License-Identifier: BSD-3-Clause
// Locks exclude, and debug builds refuse a wrong order.
#include "base/mutex.h"

#include "support/catch.h"
#include "support/process.h"

#include <csignal>
#include <optional>
#include <sys/resource.h>
#include <thread>

namespace mutex_test {

using namespace plexus;
using namespace std::chrono_literals;

namespace {

template <class Mutex>
struct Counter {
    Mutex mutex;
    std::uint64_t value PLEXUS_GUARDED_BY(mutex) = 0;

    void add(int times) {
        for (int i = 0; i < times; ++i) {
            Lock hold(mutex);
            ++value;
        }
    }
    std::uint64_t read() {
        Lock hold(mutex);
        return value;
    }
};

template <class Mutex>
void count_on_threads() {
    Counter<Mutex> counter;
    std::thread threads[4];
    for (std::thread& thread : threads) thread = std::thread([&] { counter.add(20'000); });
    for (std::thread& thread : threads) thread.join();
    CHECK(counter.read() == 80'000);
}

} // namespace

TEST_CASE("a mutex lets one thread in at a time") { count_on_threads<RankedMutex<30>>(); }

TEST_CASE("a spinlock lets one thread in at a time, also when its holder loses the core") {
    count_on_threads<RankedSpinlock<30>>();
}

TEST_CASE("locks may be taken in rising rank and given back in any order") {
    RankedMutex<10> low;
    RankedSpinlock<20> middle;
    RankedMutex<30> high;
    for (int round = 0; round < 3; ++round) {
        low.lock();
        middle.lock();
        low.unlock();
        high.lock();
        middle.unlock();
        high.unlock();
    }
    low.lock(); // would abort if a rank were still noted as held
    low.unlock();
}

#if !defined(NDEBUG)
namespace {

/// How a process ends in which `take` takes locks.
std::optional<int> end_of(void (*take)()) {
    testing::Process taker([take](testing::Channel&) {
        std::signal(SIGABRT, SIG_DFL); // Catch2 would report it as this test's own
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        take();
        return 0;
    });
    return taker.wait(10s);
}

} // namespace

TEST_CASE("a wrong order of locks ends a debug build at once") {
    CHECK(end_of([] {
              RankedMutex<30> high;
              RankedMutex<20> low;
              Lock first(high);
              Lock second(low);
          }) == 128 + SIGABRT);
}

TEST_CASE("two locks of one rank are a wrong order") {
    CHECK(end_of([] {
              RankedMutex<30> one;
              RankedSpinlock<30> other;
              Lock first(one);
              Lock second(other);
          }) == 128 + SIGABRT);
}

TEST_CASE("a lock that is given back early is not held any more, the others are") {
    CHECK(end_of([]() PLEXUS_NO_THREAD_SAFETY {
              RankedMutex<10> low;
              RankedMutex<20> high;
              RankedMutex<15> between;
              low.lock();
              high.lock();
              low.unlock();
              between.lock();
          }) == 128 + SIGABRT);
}
#endif

} // namespace mutex_test
