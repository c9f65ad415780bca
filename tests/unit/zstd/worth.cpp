// SPDX-License-Identifier: BSD-3-Clause
// What is compressed, over simulated links, data and processors: every number is the test's.
#include "zstd/worth.h"

#include "support/catch.h"

#include <algorithm>

namespace worth_test {

using plexus::zstd::LinkRate;
using plexus::zstd::Worth;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint64_t kSlow = 12'500'000; // bytes a second: 100 Mb/s
constexpr std::uint64_t kFast = 10'000'000'000;

/// A sender with a processor that takes `cost` ns for each byte and data that shrinks to `ratio`.
struct Sender {
    std::uint64_t link_rate;
    double ratio;
    double cost = 2;
    Worth worth{false};
    std::uint64_t now = 1'000'000;
    std::size_t sent = 0;
    std::size_t touched = 0; ///< bytes that were compressed, for samples or whole
    std::size_t saved = 0;

    void compress(std::size_t bytes) {
        touched += bytes;
        worth.measured(bytes, static_cast<std::size_t>(static_cast<double>(bytes) * ratio),
                       static_cast<std::uint64_t>(static_cast<double>(bytes) * cost));
    }
    /// True if the message goes compressed.
    bool send(std::size_t size) {
        now += 1'000'000;
        sent += size;
        if (worth.passes(size)) return false;
        worth.rate.look(now, 0, link_rate);
        const Worth::Step step = worth.step(size);
        if (step == Worth::Step::plain) return false;
        if (step == Worth::Step::sample) {
            compress(std::min<std::size_t>(size, 8192));
            if (!worth.pays()) return false;
        }
        compress(size);
        if (ratio > Worth::kMostRatio) return false;
        saved += size - static_cast<std::size_t>(static_cast<double>(size) * ratio);
        return true;
    }
};

} // namespace

TEST_CASE("data that shrinks is compressed for a slow link and not for a fast one") {
    Sender slow{kSlow, 0.4};
    Sender fast{kFast, 0.4};
    for (int i = 0; i < 100; ++i) {
        CHECK(slow.send(kMiB));
        CHECK_FALSE(fast.send(kMiB));
    }
    CHECK(slow.saved > slow.sent / 2);
    CHECK(fast.touched < fast.sent / 500);
    CHECK(fast.touched > 2 * 8192); // it is looked at again now and then
}

TEST_CASE("the border is where the processors take as long as the link saves") {
    // 2.8 ns of both processors against 0.5 of a byte: 5.6 ns of the link, 178 MB/s.
    Sender below{170'000'000, 0.5};
    Sender above{190'000'000, 0.5};
    CHECK(below.send(kMiB));
    CHECK_FALSE(above.send(kMiB));
}

TEST_CASE("data that does not shrink is let alone, and looked at ever more rarely") {
    Sender sender{kSlow, 1.0};
    std::size_t last = 0;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < 4096; ++i) {
        const std::size_t before = sender.touched;
        CHECK_FALSE(sender.send(kMiB));
        if (sender.touched == before) continue;
        longest = std::max(longest, i - last);
        last = i;
    }
    CHECK(sender.touched < 32 * 8192);
    CHECK(longest == Worth::kLongestPause / kMiB + 1);
}

TEST_CASE("data that begins to shrink is noticed, and compressed from then on") {
    Sender sender{kSlow, 1.0};
    for (int i = 0; i < 20; ++i) CHECK_FALSE(sender.send(kMiB));
    sender.ratio = 0.3;
    int until = 0;
    while (!sender.send(kMiB) && until < 200) ++until;
    CHECK(until < 64); // as much again as has passed, and once more for the mean
    for (int i = 0; i < 20; ++i) CHECK(sender.send(kMiB));
}

TEST_CASE("data that stops to shrink after it did is looked at again as soon as at first") {
    Sender sender{kSlow, 1.0};
    for (int i = 0; i < 64; ++i) CHECK_FALSE(sender.send(kMiB));
    sender.ratio = 0.3;
    for (int i = 0; i < 200 && !sender.send(kMiB);) ++i;
    for (int i = 0; i < 20; ++i) CHECK(sender.send(kMiB));
    sender.ratio = 1.0;
    for (int i = 0; i < 4; ++i) CHECK_FALSE(sender.send(kMiB));
    sender.ratio = 0.3;
    int until = 0;
    while (!sender.send(kMiB) && until < 200) ++until;
    CHECK(until < 8);
}

TEST_CASE("a link that becomes slow is not left to the end of a pause") {
    Sender sender{kFast, 0.4};
    for (int i = 0; i < 100; ++i) sender.send(kMiB);
    CHECK_FALSE(sender.send(kMiB));
    sender.link_rate = kSlow;
    CHECK(sender.send(kMiB));
}

TEST_CASE("a link of unknown rate is left alone, but not where everything that shrinks is wanted") {
    Sender unknown{0, 0.2};
    CHECK_FALSE(unknown.send(kMiB));
    Sender always{0, 0.2, 2, Worth(true)};
    CHECK(always.send(kMiB));
    Sender hopeless{0, 1.0, 2, Worth(true)};
    CHECK_FALSE(hopeless.send(kMiB));
}

TEST_CASE("small messages are compressed whole once they have shown that they shrink") {
    Sender sender{kSlow, 0.5};
    CHECK(sender.worth.step(4096) == Worth::Step::sample);
    CHECK(sender.send(4096));
    CHECK(sender.worth.step(4096) == Worth::Step::whole);
    CHECK(sender.worth.step(Worth::kSampledFrom) == Worth::Step::sample);
}

TEST_CASE("a link's rate is how its queue drains") {
    LinkRate rate;
    std::uint64_t now = 1'000'000;
    std::uint64_t queued = 0;
    rate.look(now, queued, 999);
    CHECK(rate.per_second() == 999); // what it was told
    for (int i = 0; i < 200; ++i) {
        rate.accepted(kMiB);
        queued += kMiB;
        now += 10'000'000;
        queued -= kSlow / 100; // so much in ten milliseconds
        rate.look(now, queued, 999);
    }
    CHECK(rate.per_second() > kSlow * 0.99);
    CHECK(rate.per_second() < kSlow * 1.01);
}

TEST_CASE("time without a look is no time in which a link was slow") {
    LinkRate rate;
    rate.look(1'000'000, 0, 7);
    rate.accepted(1000);
    rate.pause();
    rate.look(100'001'000'000, 500, 7);
    CHECK(rate.per_second() == 7);
}

TEST_CASE("messages that pass without a look do not make a link look slow") {
    Worth worth(false);
    worth.rate.look(1'000'000, 0, 7);
    worth.rate.accepted(1000);
    worth.measured(8192, 8192, 1000); // does not shrink
    REQUIRE(worth.passes(4096));
    worth.rate.look(100'001'000'000, 500, 7);
    CHECK(worth.rate.per_second() == 7);
}

TEST_CASE("a link that empties its queue carries at least what it took") {
    LinkRate rate;
    rate.look(1'000'000, 0, 0);
    rate.accepted(20'000);
    rate.look(11'000'000, 10'000, 0); // 1 MB/s
    CHECK(rate.per_second() == 1e6);
    rate.accepted(90'000);
    rate.look(12'000'000, 0, 0); // 100,000 bytes in a millisecond
    CHECK(rate.per_second() == 1e8);
}

} // namespace worth_test
