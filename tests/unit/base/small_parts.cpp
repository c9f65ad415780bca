// SPDX-License-Identifier: BSD-3-Clause
// The host's identity, counters that live as long as a scope, lists that grow, condition variables.
#include "base/condition_variable.h"
#include "base/counted.h"
#include "base/grow_only.h"
#include "base/host_id.h"

#include "support/catch.h"

#include <fmt/core.h>
#include <fstream>
#include <string>
#include <thread>

namespace small_parts_test {

using namespace plexus;
using namespace std::chrono_literals;

TEST_CASE("a host's identity is the number of its boot") {
    std::string said;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), said);
    std::erase(said, '-');
    std::string text;
    for (const std::uint8_t byte : host_id()) text += fmt::format("{:02x}", byte);
    CHECK(text == said);
}

TEST_CASE("a counter counts what lives") {
    std::atomic<std::uint32_t> count{0};
    {
        const Counted one(count);
        const Counted other(count);
        CHECK(count == 2);
    }
    CHECK(count == 0);
}

TEST_CASE("a list that grows shows what is in it, and keeps it in its place") {
    GrowOnly<int, 3> list;
    CHECK(list.all().empty());
    const int* const first = &list.add(std::make_unique<int>(1));
    list.add(std::make_unique<int>(2));
    list.add(std::make_unique<int>(3));
    CHECK(list.size() == 3);
    CHECK(&list[0] == first);
    CHECK(*list.all()[2] == 3);
}

TEST_CASE("a wait ends at its deadline, and says so, or when somebody notifies") {
    RankedMutex<30> mutex;
    ConditionVariable changed;
    bool done = false;
    {
        Lock hold(mutex);
        const auto deadline = Clock::now() + 20ms;
        bool early = true;
        while (early && Clock::now() < deadline + 10s) early = changed.wait_until(mutex, deadline);
        CHECK_FALSE(early);
        CHECK(Clock::now() >= deadline);
    }
    std::thread other([&] {
        Lock hold(mutex);
        done = true;
        changed.notify_all();
    });
    bool early = true;
    {
        Lock hold(mutex);
        while (!done) early = early && changed.wait_until(mutex, Clock::time_point::max());
    }
    other.join();
    CHECK(early);
}

} // namespace small_parts_test
