// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a broadcast by multicast as values: windows, gaps, the times of questions, the rate.
#include "multicast/window.h"

#include "support/catch.h"

#include <deque>
#include <random>

namespace window_test {

using namespace plexus::eco::multicast;
using Answer = RepairTimer::Answer;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kAll = UINT32_MAX;
constexpr std::uint32_t kReorder = 3;

} // namespace

TEST_CASE("a sender is at most a window ahead of the slowest member") {
    SendWindow window(3, 1, 10, 4);
    const auto send_all = [&] {
        std::uint32_t sent = 0;
        while (window.may_send()) {
            (void)window.take_next();
            ++sent;
        }
        return sent;
    };
    CHECK(send_all() == 4);
    CHECK(window.confirm(0, 4));
    CHECK(send_all() == 0);
    CHECK(window.slowest() == 2);
    CHECK(window.confirm(2, 3));
    CHECK(window.confirmed() == 3);
    CHECK(send_all() == 3);
    CHECK(window.confirm(2, 1)); // it was overtaken
    CHECK(window.confirmed() == 3);
    CHECK(window.confirm(0, 10));
    CHECK(window.confirm(2, 10));
    CHECK(window.complete());
    CHECK_FALSE(window.may_send());
}

TEST_CASE("what members got by repairs need not leave by multicast") {
    SendWindow window(2, 0, 10, 4);
    CHECK(window.confirm(1, 8));
    REQUIRE(window.may_send());
    CHECK(window.take_next() == 8);
}

TEST_CASE("a confirmation of what there is not is refused") {
    SendWindow window(2, 0, 10, 4);
    CHECK_FALSE(window.confirm(1, 11));
    CHECK_FALSE(window.confirm(2, 1));
    CHECK(window.confirmed() == 0);
    CHECK(SendWindow(1, 0, 5, 4).complete());
    CHECK(SendWindow(2, 0, 5, 0).may_send()); // a window of 0 would never send
}

TEST_CASE("a receiver takes each datagram once, in any order") {
    ReceiveWindow window(5);
    CHECK(window.take(3));
    CHECK_FALSE(window.take(3));
    CHECK_FALSE(window.take(5));
    CHECK_FALSE(window.take(kAll));
    CHECK(window.seen() == 4);
    CHECK(window.missing(window.seen(), 100) == std::vector<Range>{{0, 3}});
    CHECK(window.take(1));
    CHECK(window.missing(kAll, 100) == std::vector<Range>{{0, 1}, {2, 1}, {4, 1}});
    CHECK(window.missing(kAll, 2) == std::vector<Range>{{0, 1}, {2, 1}});
    CHECK(window.take(0));
    CHECK(window.first_missing() == 2);
    CHECK(window.take(4));
    CHECK(window.take(2));
    CHECK(window.complete());
    CHECK(window.missing(kAll, 100).empty());
}

TEST_CASE("a question has a limited number of ranges") {
    ReceiveWindow window(1000);
    for (std::uint32_t at = 1; at < 1000; at += 2) window.take(at);
    CHECK(window.missing(kAll, 1000).size() == ReceiveWindow::kMostRanges);
}

TEST_CASE("gaps are asked for when some more datagrams have come behind them") {
    ReceiveWindow window(100);
    RepairTimer timer(0, kReorder);
    window.take(0);
    window.take(2);
    timer.datagram_came(10);
    CHECK(timer.ask_below(window, 100, 10) == 0); // 1 may just be late
    for (std::uint32_t at = 3; at < 10; ++at) window.take(at);
    CHECK(timer.ask_below(window, 100, 10) == 9 - kReorder);
    timer.asked();
    CHECK(timer.ask_below(window, 100, 10 * kSecond) == 0); // one question at a time
    timer.answered(Answer::fresh, 20);
    CHECK(timer.ask_below(window, 100, 20) > 0);
    window.take(1);
    CHECK(timer.ask_below(window, 100, 20) == 0);
}

TEST_CASE("as many datagrams as the timer is made for may overtake one") {
    const auto reorder = GENERATE(0u, 1u, 7u);
    ReceiveWindow window(100);
    const RepairTimer timer(0, reorder);
    for (std::uint32_t at = 1; at < 1 + reorder; ++at) window.take(at);
    CHECK(timer.ask_below(window, 100, 0) == 0);
    window.take(1 + reorder);
    const std::uint32_t below = timer.ask_below(window, 100, 0);
    CHECK(below == 1);
    CHECK(window.missing(below, 100) == std::vector<Range>{{0, 1}});
    window.take(0);
    CHECK(timer.ask_below(window, 100, 0) == 0);
}

TEST_CASE("copies of what a receiver has are no sign of life") {
    ReceiveWindow window(100);
    RepairTimer timer(0, kReorder);
    const auto come = [&](std::uint32_t sequence, std::uint64_t now) {
        const bool further = window.take(sequence);
        if (further) timer.datagram_came(now);
        return further;
    };
    CHECK(come(0, 10));
    CHECK(come(2, 20)); // behind a gap is further, too
    const std::uint64_t due = 20 + RepairTimer::kSilence;
    for (std::uint64_t now = 30; now < due; now += RepairTimer::kSilence / 10) {
        CHECK_FALSE(come(0, now));
        CHECK_FALSE(come(2, now));
    }
    CHECK(timer.ask_below(window, 100, due - 1) == 0);
    CHECK(timer.ask_below(window, 100, due) == 100);
    CHECK(come(1, due));
    CHECK(timer.ask_below(window, 100, due) == 0);
}

TEST_CASE("after a silence all is asked for, and less often while the sender has nothing") {
    ReceiveWindow window(100);
    RepairTimer timer(0, kReorder);
    CHECK(timer.ask_below(window, 100, RepairTimer::kSilence - 1) == 0);
    CHECK(timer.ask_below(window, 100, RepairTimer::kSilence) == 100);
    std::uint64_t now = RepairTimer::kSilence;
    std::uint64_t silence = RepairTimer::kSilence;
    for (int i = 0; i < 10; ++i) {
        timer.asked();
        timer.answered(Answer::not_begun, now);
        silence = std::min(2 * silence, RepairTimer::kLongestSilence);
        CHECK(timer.ask_below(window, 100, now + silence - 1) == 0);
        CHECK(timer.ask_below(window, 100, now + silence) == 100);
        now += silence;
    }
    timer.asked();
    timer.answered(Answer::fresh, now); // and it goes on at once, as nothing comes by multicast
    CHECK(timer.ask_below(window, 100, now) == 100);
    timer.datagram_came(now);
    CHECK(timer.ask_below(window, 100, now + RepairTimer::kSilence - 1) == 0);
    now += RepairTimer::kSilence;
    timer.asked();
    timer.answered(Answer::copies, now); // what was asked for has come: the silence is no longer than before
    CHECK(timer.ask_below(window, 100, now + RepairTimer::kSilence - 1) == 0);
    CHECK(timer.ask_below(window, 100, now + RepairTimer::kSilence) == 100);
}

TEST_CASE("every receiver gets all, whatever is lost, doubled or overtaken") {
    const auto seed = GENERATE(1u, 2u, 3u, 4u, 5u);
    std::mt19937 random(seed);
    const auto reorder = static_cast<std::uint32_t>(random() % 5);
    constexpr std::uint32_t kCount = 300;
    constexpr std::uint32_t kMembers = 4;
    SendWindow sender(kMembers, 0, kCount, 16);
    std::vector<ReceiveWindow> receivers(kMembers, ReceiveWindow(kCount));
    std::vector<RepairTimer> timers(kMembers, RepairTimer(0, reorder));
    std::vector<std::deque<std::uint32_t>> on_the_way(kMembers);
    std::uint64_t now = 0;
    for (int turn = 0; turn < 100'000 && !sender.complete(); ++turn, now += 100'000) {
        if (sender.may_send()) {
            const std::uint32_t sequence = sender.take_next();
            for (std::uint32_t to = 1; to < kMembers; ++to)
                for (unsigned copies = random() % 3; copies > 0; --copies) {
                    auto& queue = on_the_way[to];
                    queue.insert(queue.begin() + static_cast<std::ptrdiff_t>(random() % (queue.size() + 1)),
                                 sequence);
                }
        }
        for (std::uint32_t to = 1; to < kMembers; ++to) {
            if (!on_the_way[to].empty() && random() % 2 == 0) {
                if (receivers[to].take(on_the_way[to].front())) timers[to].datagram_came(now);
                on_the_way[to].pop_front();
            }
            if (const auto below = timers[to].ask_below(receivers[to], kCount, now); below > 0) {
                timers[to].asked();
                for (const Range& range : receivers[to].missing(below, 8))
                    for (std::uint32_t i = 0; i < range.count; ++i) receivers[to].take(range.first + i);
                timers[to].answered(Answer::fresh, now);
            }
            CHECK(sender.confirm(to, receivers[to].first_missing()));
        }
    }
    CHECK(sender.complete());
    for (std::uint32_t to = 1; to < kMembers; ++to) CHECK(receivers[to].complete());
}

TEST_CASE("a rate holds in the mean, and a burst leaves at once") {
    RateLimiter limiter(1'000'000, 10'000);
    std::uint64_t now = 5 * kSecond;
    for (int i = 0; i < 10; ++i) CHECK(limiter.take(1'000, now) == 0);
    const std::uint64_t start = now;
    std::uint64_t sent = 0;
    while (sent < 100'000) {
        const std::uint64_t pause = limiter.take(1'000, now);
        if (pause == 0) {
            sent += 1'000;
        } else {
            REQUIRE(pause <= kSecond / 1'000 + 1);
            now += pause;
        }
    }
    CHECK(now - start >= kSecond / 10 - kSecond / 1'000);
    CHECK(now - start <= kSecond / 10 + kSecond / 1'000);
    now += 3'600 * kSecond; // no more than a burst is saved up
    for (int i = 0; i < 10; ++i) CHECK(limiter.take(1'000, now) == 0);
    CHECK(limiter.take(1'000, now) > 0);
}

TEST_CASE("a datagram above the burst leaves with a full bucket, and no rate is no limit") {
    RateLimiter limiter(1'000'000, 10'000);
    CHECK(limiter.take(50'000, kSecond) == 0);
    const std::uint64_t pause = limiter.take(50'000, kSecond);
    CHECK(pause > 0);
    CHECK(limiter.take(50'000, kSecond + pause) == 0);
    RateLimiter none(0, 0);
    for (int i = 0; i < 1'000; ++i) CHECK(none.take(1 << 20, 0) == 0);
}

} // namespace window_test
