// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/epoll_skips.h"

#include "support/catch.h"

namespace plexus::stream_link {
namespace {

std::uint32_t turns_to_wait(EpollSkips& skips, bool finds) {
    std::uint32_t turns = 0;
    while (!skips.is_due()) ++turns;
    skips.begin_wait();
    if (finds) skips.found();
    skips.end_wait();
    return turns;
}

TEST_CASE("the epoll set is asked ever more rarely while it finds nothing, and within a bound") {
    EpollSkips skips;
    std::uint32_t last = 0;
    CHECK(turns_to_wait(skips, false) == 0);
    for (int i = 0; i < 10; ++i) {
        const std::uint32_t turns = turns_to_wait(skips, false);
        CHECK(turns >= last);
        last = turns;
    }
    CHECK(last == EpollSkips::kMost);
}

TEST_CASE("the epoll set is asked in each turn after it has found work") {
    EpollSkips skips;
    for (int i = 0; i < 10; ++i) turns_to_wait(skips, false);
    turns_to_wait(skips, true);
    CHECK(turns_to_wait(skips, true) == 0);
    CHECK(turns_to_wait(skips, false) == 0);
}

TEST_CASE("a thread that has slept asks the epoll set in its first turn") {
    EpollSkips skips;
    for (int i = 0; i < 10; ++i) turns_to_wait(skips, false);
    skips.stop();
    CHECK(turns_to_wait(skips, false) == 0);
}

} // namespace
} // namespace plexus::stream_link
