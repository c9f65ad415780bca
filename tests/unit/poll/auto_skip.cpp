// SPDX-License-Identifier: BSD-3-Clause
// skip_poll = auto, as arithmetic: a loop is played, nothing is measured.
#include "poll/auto_skip.h"
#include "support/catch.h"

namespace auto_skip_test {

using plexus::poll::AutoSkip;

namespace {

constexpr double kIdleShare = 0.01;
constexpr double kCheap = 40;

/// A loop whose other work takes `turn` ticks in each turn.
struct Loop {
    std::uint64_t turn = 100;
    std::uint64_t cost = 1'000;
    AutoSkip skip{{kIdleShare, kCheap, 0}};
    std::uint64_t last_wait = 100;
    std::uint32_t turns = 1;
    bool lately = false;
    std::uint32_t idlers = 1;

    std::uint32_t poll(bool hit = false, bool others_quiet = false) {
        turns = skip.after_poll({cost, last_wait, turns, hit, lately, others_quiet, idlers});
        last_wait = turns * turn;
        return turns;
    }
    std::uint32_t idle(int polls) {
        for (int i = 1; i < polls; ++i) poll();
        return poll();
    }
    double share() const { return static_cast<double>(cost) / static_cast<double>(cost + last_wait); }
};

} // namespace

TEST_CASE("an idle lane takes its share of the loop and no more, whatever a poll costs") {
    Loop loop;
    loop.cost = GENERATE(200u, 1'000u, 50'000u);
    loop.turn = GENERATE(20u, 100u, 3'000u);
    CAPTURE(loop.cost, loop.turn);
    loop.idle(500);
    CHECK((loop.share() < kIdleShare * 1.3 || loop.skip.turns() == AutoSkip::kMost));
    CHECK((loop.share() > kIdleShare * 0.7 || loop.skip.turns() == 1 || loop.turn * 2 > loop.cost * 99));
}

TEST_CASE("after a hit the lane is asked often, and is let go slowly") {
    Loop loop;
    const std::uint32_t quiet = loop.idle(500);
    REQUIRE(quiet > 500);
    CHECK(loop.poll(true) <= 64);
    CHECK(loop.idle(10) < quiet / 5);
    CHECK(loop.share() <= AutoSkip::kBusyShare * 1.3);
    CHECK(loop.idle(500) > quiet / 2);
}

TEST_CASE("a lane with traffic keeps the pace at which it was found") {
    Loop loop;
    loop.idle(500);
    std::uint32_t most = 0;
    loop.poll(true);
    for (int round = 0; round < 200; ++round) most = std::max(most, loop.poll(round % 5 == 0));
    CHECK(most <= 100);
}

TEST_CASE("a cheap lane is asked in every turn while it has work, and takes its share when it has not") {
    Loop loop;
    loop.cost = 40;
    loop.turn = 10;
    loop.lately = true;
    for (int i = 0; i < 200; ++i) CHECK(loop.poll() == 1);
    loop.lately = false;
    loop.idle(500);
    CHECK(loop.share() < kIdleShare * 1.3);
    loop.lately = true;
    for (int i = 0; i < 200; ++i) CHECK(loop.poll(true) == 1); // also where every poll finds some
    CHECK(loop.poll() == 1);
}

TEST_CASE("what a poll costs beside itself counts as well") {
    Loop bare;
    Loop loaded;
    bare.cost = loaded.cost = 50;
    loaded.skip = AutoSkip({kIdleShare, 0, 450});
    bare.idle(500);
    loaded.idle(500);
    CHECK(loaded.skip.turns() > bare.skip.turns() * 8);
    CHECK(loaded.skip.cost_ticks() == bare.skip.cost_ticks());
}

TEST_CASE("lanes that idle share what one alone would have") {
    Loop loop;
    loop.idlers = 4;
    loop.idle(500);
    CHECK(loop.share() < kIdleShare / 4 * 1.3);
    CHECK(loop.share() > kIdleShare / 4 * 0.7);
}

TEST_CASE("while nobody else has work, a lane is asked in every turn, however dear") {
    Loop loop;
    loop.cost = 100'000;
    REQUIRE(loop.idle(500) > 1);
    CHECK(loop.poll(false, true) == 1);
    CHECK(loop.idle(500) > 1);
}

TEST_CASE("one poll that was interrupted does not throw the lane out of the loop") {
    Loop loop;
    const std::uint32_t before = loop.idle(500);
    loop.cost = 1'000'000;
    loop.poll();
    loop.cost = 1'000;
    CHECK(loop.skip.turns() <= before * 4 + 1);
    CHECK(loop.idle(20) < before * 3 / 2);
}

TEST_CASE("one poll that was interrupted does not make a cheap lane dear") {
    Loop loop;
    loop.cost = 20;
    loop.lately = true;
    loop.idle(500);
    loop.cost = 1'000'000;
    CHECK(loop.poll() == 1);
    CHECK(loop.skip.cost_ticks() <= kCheap);
    loop.cost = 20;
    for (int i = 0; i < 200; ++i) REQUIRE(loop.poll(true) == 1);
    loop.cost = 1'000'000; // and one that has become dear is noticed
    loop.lately = false;
    loop.idle(500);
    CHECK(loop.skip.cost_ticks() > 500'000);
}

TEST_CASE("the number of turns has bounds") {
    Loop loop;
    loop.cost = 1'000'000'000;
    loop.turn = 1;
    std::uint32_t before = 1;
    for (int i = 0; i < 500; ++i) {
        const std::uint32_t now = loop.poll();
        CHECK(now >= 1);
        CHECK(now <= AutoSkip::kMost);
        CHECK(now <= before * 4 + 1); // no jumps: a measurement may be wrong
        before = now;
    }
    CHECK(before == AutoSkip::kMost);
}

} // namespace auto_skip_test
