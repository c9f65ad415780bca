// SPDX-License-Identifier: BSD-3-Clause
// The window against a set that forgets nothing: what it takes is new, and within its reach it takes all that
// is.
#include "udp/replay_window.h"

#include "support/catch.h"

#include <algorithm>
#include <random>
#include <set>

namespace replay_window_test {

using plexus::udp::ReplayWindow;

TEST_CASE("a number is taken once, and zero never") {
    ReplayWindow window;
    CHECK(!window.is_new(0));
    for (const std::uint64_t number : {1, 2, 5, 3, 64, 63}) {
        CAPTURE(number);
        CHECK(window.is_new(number));
        window.came(number);
        CHECK(!window.is_new(number));
    }
    CHECK(window.is_new(4));
}

TEST_CASE("what is further behind than the window reaches is refused, what is just within is taken") {
    ReplayWindow window;
    const std::uint64_t highest = GENERATE(std::uint64_t{5000}, std::uint64_t{1} << 40, UINT64_MAX);
    window.came(1);
    window.came(highest);
    CHECK(window.is_new(highest - ReplayWindow::kReach + 1));
    CHECK(!window.is_new(highest - ReplayWindow::kReach));
    CHECK(!window.is_new(1));
    CHECK(!window.is_new(highest));
}

TEST_CASE("numbers in any order, with repeats and leaps, are taken exactly once") {
    std::mt19937_64 random(GENERATE(1U, 2U, 3U));
    ReplayWindow window;
    std::set<std::uint64_t> taken;
    std::uint64_t highest = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::uint64_t leap = random() % 1000 == 0 ? random() % 5000 : random() % 3;
        const bool back = random() % 3 == 0 && highest > 0;
        const std::uint64_t number =
            back ? highest - std::min(highest - 1, random() % (ReplayWindow::kReach + 200)) : highest + leap;
        if (number == 0) continue;
        const bool within = number > highest || highest - number < ReplayWindow::kReach;
        const bool expected = within && !taken.contains(number);
        if (window.is_new(number) != expected) FAIL("number " << number << " behind " << highest);
        if (!expected) continue;
        window.came(number);
        taken.insert(number);
        highest = std::max(highest, number);
    }
}

} // namespace replay_window_test
