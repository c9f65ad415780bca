// SPDX-License-Identifier: BSD-3-Clause
// The asymmetric fence keeps Dekker's agreement, with and without membarrier(2), and does not go on when
// the kernel takes membarrier(2) back.
#include "base/barrier.h"

#include "support/catch.h"
#include "support/eventually.h"
#include "support/forbid_calls.h"
#include "support/process.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace barrier_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

/// From here on membarrier(2) fails with EPERM in this process. False: no seccomp filters here.
bool forbid_membarrier() { return forbid_calls({SYS_membarrier}, EPERM); }

/// Two threads each write, pass their barrier and read what the other writes. True: in no round did both
/// miss the other's write.
bool agree(int rounds) {
    struct alignas(64) Line {
        std::atomic<int> value{0};
    };
    Line light;
    Line heavy;
    Line meeting; // counts arrivals: both start a round at the same time
    bool light_missed = false;
    bool heavy_missed = false;
    bool all = true;
    const auto meet = [&](int times) {
        meeting.value.fetch_add(1);
        while (meeting.value.load() < 2 * times) {}
    };
    std::thread other([&] {
        for (int round = 1; round <= rounds; ++round) {
            meet(3 * round - 2);
            light.value.store(round, std::memory_order_relaxed);
            light_barrier();
            light_missed = heavy.value.load(std::memory_order_relaxed) < round;
            meet(3 * round - 1);
            meet(3 * round);
        }
    });
    for (int round = 1; round <= rounds; ++round) {
        meet(3 * round - 2);
        heavy.value.store(round, std::memory_order_relaxed);
        heavy_barrier();
        heavy_missed = light.value.load(std::memory_order_relaxed) < round;
        meet(3 * round - 1);
        all = all && !(light_missed && heavy_missed);
        meet(3 * round);
    }
    other.join();
    return all;
}

constexpr int kRounds = kSanitized ? 300 : 2'000;

} // namespace

TEST_CASE("of a light and a heavy barrier one side sees the other's write") { CHECK(agree(kRounds)); }

TEST_CASE("membarrier is tried before it is relied on") {
    CHECK(detail::kAsymmetric == detail::asymmetric_barriers());
    Process without([](Channel&) {
        if (!forbid_membarrier()) return 77;
        return detail::asymmetric_barriers() ? 1 : 0; // what a process with this filter decides at start
    });
    const auto end = without.wait(10s);
    if (end == 77) SKIP_TEST("this system allows no seccomp filter");
    CHECK(end == 0);
}

TEST_CASE("a heavy barrier ends the process when membarrier fails after it worked at start") {
    if (!detail::kAsymmetric) SKIP_TEST("this build or kernel has no membarrier(2)");
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    Process refused([&](Channel&) {
        std::signal(SIGABRT, SIG_DFL); // Catch2 would report it as this test's own
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::dup2(writer.get(), STDERR_FILENO);
        heavy_barrier(); // works
        if (!forbid_membarrier()) return 77;
        heavy_barrier();
        return 0;
    });
    const auto end = refused.wait(10s);
    if (end == 77) SKIP_TEST("this system allows no seccomp filter");
    CHECK(end == 128 + SIGABRT);
    writer.reset();
    std::string said(4096, '\0');
    const auto size = ::read(reader.get(), said.data(), said.size());
    REQUIRE(size > 0);
    CHECK(said.find("membarrier(2)") != std::string::npos);
}

} // namespace barrier_test
