// SPDX-License-Identifier: BSD-3-Clause
// The timers of a context's groups.
#include "group/monitor.h"

#include "support/catch.h"
#include "support/eventually.h"

#include <atomic>
#include <string>

namespace monitor_test {

using namespace plexus::eco::detail;
using namespace plexus::testing;

TEST_CASE("timers that are due are handed over in the order of their times") {
    std::string order; // the monitor's thread writes it, before it adds to `ran`
    std::atomic<int> ran{0};
    std::atomic<bool> begun{false};
    std::atomic<bool> may_go_on{false};
    Monitor monitor([](const Monitor::Job& job) { job(); });
    monitor.after(0s, [&] {
        begun = true;
        eventually(20s, [&] { return may_go_on.load(); });
    });
    REQUIRE(eventually(20s, [&] { return begun.load(); }));
    const auto note = [&](char which) {
        return [&order, &ran, which] {
            order += which;
            ++ran;
        };
    };
    // Hours ago: the time that passes between two of these lines changes nothing.
    monitor.after(-1h, note('d'));
    monitor.after(-3h, note('a'));
    monitor.after(1h, note('z'));
    monitor.after(-2h, note('b'));
    may_go_on = true;
    REQUIRE(eventually(20s, [&] { return ran == 3; }));
    CHECK(order == "abd");
}

TEST_CASE("a timer that is set behind a later one does not wait for it") {
    std::atomic<bool> ran{false};
    Monitor monitor([](const Monitor::Job& job) { job(); });
    monitor.after(1h, [] {});
    monitor.after(1ms, [&] { ran = true; });
    CHECK(eventually(20s, [&] { return ran.load(); }));
}

TEST_CASE("timers that are not due when the monitor stops are dropped") {
    std::atomic<int> ran{0};
    {
        Monitor monitor([](const Monitor::Job& job) { job(); });
        monitor.after(1h, [&] { ++ran; });
        monitor.stop();
        monitor.after(0s, [&] { ++ran; });
    }
    CHECK(ran == 0);
}

} // namespace monitor_test
