// SPDX-License-Identifier: BSD-3-Clause
// How often a thread that spins looks at the clock, on machines where an idle turn costs little or much.
#include "poll/idle_looks.h"
#include "support/catch.h"

namespace idle_looks_test {

using namespace std::chrono_literals;
using plexus::poll::IdleLooks;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds kSpin = 100us;

/// A thread that spins, each of whose idle turns takes as long as `turn` says.
struct Spinner {
    nanoseconds turn{0};
    IdleLooks looks = IdleLooks(kSpin);
    IdleLooks::Time now{1s};

    /// Turns until the next look.
    unsigned look() {
        for (unsigned turns = 1;; ++turns) {
            now += turn;
            if (!looks.count_turn()) continue;
            looks.note(now);
            return turns;
        }
    }
    /// A whole spin: how long it lasts.
    nanoseconds spin() {
        looks.restart();
        const auto start = now;
        (void)look();
        const auto idle_since = now;
        while (now - idle_since < kSpin) (void)look();
        return now - start;
    }
};

} // namespace

TEST_CASE("a spin ends in time after a few, whatever a turn takes") {
    for (const nanoseconds turn : {10ns, 100ns, 1000ns, 4000ns, 20'000ns}) {
        CAPTURE(turn.count());
        Spinner spinner{turn};
        for (int i = 0; i < 8; ++i) (void)spinner.spin();
        CHECK(spinner.spin() <= kSpin + kSpin / 3 + 2 * turn);
    }
}

TEST_CASE("where turns are short the clock is read every 64 turns, and again so after a long one") {
    Spinner spinner{50ns};
    for (int i = 0; i < 10; ++i) CHECK(spinner.look() == IdleLooks::kMostTurns);
    spinner.turn = 1ms; // the thread lost its core
    CHECK(spinner.look() == IdleLooks::kMostTurns);
    spinner.turn = 50ns;
    CHECK(spinner.look() == 1);
    CHECK(spinner.look() == IdleLooks::kMostTurns);
}

TEST_CASE("the turn after a yield looks, and what happened between two looks is no idle turn") {
    Spinner spinner{50ns};
    (void)spinner.look();
    spinner.now += 10ms; // others ran
    spinner.looks.look_next(spinner.now);
    CHECK(spinner.look() == 1);
    CHECK(spinner.look() == IdleLooks::kMostTurns);
    spinner.looks.restart();
    spinner.now += 10ms; // the thread slept
    CHECK(spinner.look() == IdleLooks::kMostTurns);
    CHECK(spinner.look() == IdleLooks::kMostTurns);
}

TEST_CASE("a thread that is not to spin yields after a microsecond, or one turn") {
    for (const nanoseconds turn : {100ns, 2000ns}) {
        Spinner spinner{turn, IdleLooks(0ns)};
        (void)spinner.look();
        spinner.looks.look_next(spinner.now); // yields after each look
        CHECK(spinner.look() == 1);
        spinner.looks.restart(); // something came
        CHECK(spinner.look() == (turn == 100ns ? 10 : 1));
    }
}

TEST_CASE("turns that are looked at before their number is reached count as what they are") {
    Spinner spinner{1us};
    (void)spinner.look();
    const auto look_after = [&](unsigned turns) { // others poll: each turn looks
        for (unsigned i = 0; i < turns; ++i) {
            spinner.now += 1us;
            (void)spinner.looks.count_turn();
        }
        spinner.looks.note(spinner.now);
        return spinner.looks.turns();
    };
    CHECK(look_after(3) == 12); // an eighth of 100 us
    CHECK(look_after(1) == 12);
}

} // namespace idle_looks_test
