// SPDX-License-Identifier: BSD-3-Clause
// The ring by itself: order, wrap-around, and that only what was written is ever read.
#include "support/catch.h"
#include "support/eventually.h"

#include "shm/ring.h"

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace ring_test {

using namespace plexus::shm;
using namespace plexus::testing;

namespace {

struct Ring {
    explicit Ring(std::uint32_t count)
      : lines(std::make_unique<Line[]>(count)) {
        for (std::uint32_t i = 0; i < count; ++i) {
            lines[i].word = 0;
            std::memset(lines[i].body, 0, sizeof lines[i].body);
        }
        writer.attach(lines.get(), count, consumed);
        reader.attach(lines.get(), count, consumed);
    }
    [[gnu::noinline]] bool write(std::uint32_t size, std::uint64_t fill) {
        std::byte* const body = writer.reserve(size);
        if (body == nullptr) return false;
        for (std::uint32_t i = 0; i + 8 <= size; i += 8) std::memcpy(body + i, &fill, 8);
        writer.publish(Kind::message, size);
        return true;
    }
    bool write_line(std::uint64_t value) {
        std::byte* const body = writer.reserve_line();
        if (body == nullptr) return false;
        std::memcpy(body, &value, sizeof value);
        writer.publish_line(Kind::message, sizeof value);
        return true;
    }

    std::unique_ptr<Line[]> lines;
    std::atomic<std::uint64_t> consumed{0};
    RingWriter writer;
    RingReader reader;
};

// True if each whole word of the body is `fill`.
bool filled_with(const RingReader::Record& record, std::uint64_t fill) {
    for (std::uint32_t i = 0; i + 8 <= record.size; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, record.body + i, 8);
        if (word != fill) return false;
    }
    return true;
}

} // namespace

TEST_CASE("records of all sizes come out in order, over many wrap-arounds") {
    Ring ring(64);
    std::minstd_rand random(7);
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    std::vector<std::uint32_t> sizes;
    RingReader::Record record{};
    while (read < 20'000) {
        for (unsigned burst = random() % 8; burst > 0; --burst) {
            const auto size = static_cast<std::uint32_t>(random() % (ring.writer.largest() + 1));
            if (!ring.write(size, written)) break;
            sizes.push_back(size);
            ++written;
        }
        if (ring.reader.look(record) != RingReader::Look::record) {
            REQUIRE(read == written);
            continue;
        }
        REQUIRE(record.size == sizes[read]);
        REQUIRE(filled_with(record, read));
        ring.reader.pass(record.size);
        ++read;
    }
}

// Each body is full of the word that the reader will wait for at its lines one lap later. The sizes of the
// records shift, so that a body's lines are a record's first line in the next lap; each line behind a record
// that is published must have been cleared, whichever way the record was written.
TEST_CASE("a body that looks like the next lap's words is never taken for a record") {
    constexpr std::uint32_t kLines = 64;
    const bool with_lines = GENERATE(true, false); // by publish_line as well as by publish
    Ring ring(kLines);
    RingReader::Record record{};
    std::minstd_rand random(13);
    std::uint64_t fillers = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t at = ring.writer.position();
        const bool one_line = with_lines && random() % 2 == 0;
        const auto size =
            one_line ? 8u : static_cast<std::uint32_t>(random() % (ring.writer.largest() / 8 + 1) * 8);
        // A record that does not fit before the end begins in the next lap.
        const bool wraps = !one_line && at % kLines + lines_for(size) > kLines;
        fillers += wraps ? 1 : 0;
        const std::uint64_t lap = at / kLines + 1 + (wraps ? 1 : 0);
        const std::uint64_t trap = word_of(static_cast<std::uint32_t>(lap + 1), Kind::message, 8);
        if (wraps) { // the filler is visible before the record behind it
            REQUIRE(ring.writer.reserve(size) != nullptr);
            REQUIRE(ring.reader.look(record) == RingReader::Look::nothing);
        }
        REQUIRE((one_line ? ring.write_line(trap) : ring.write(size, trap)));
        REQUIRE(ring.reader.look(record) == RingReader::Look::record);
        REQUIRE(record.size == size);
        REQUIRE(filled_with(record, trap));
        ring.reader.pass(record.size);
        REQUIRE(ring.reader.look(record) == RingReader::Look::nothing);
    }
    CHECK(fillers > 500);
}

TEST_CASE("every line of a long record is cleared for the next lap, whatever follows it") {
    constexpr std::uint32_t kLines = 64;
    const std::uint32_t body = GENERATE(128u, 120u + 3 * 64u, 900u); // some lines; the last is full, too
    const bool passed_over = GENERATE(false, true);
    CAPTURE(body, passed_over);
    Ring ring(kLines);
    RingReader::Record record{};
    const auto take = [&](std::uint32_t size) {
        REQUIRE(ring.reader.look(record) == RingReader::Look::record);
        REQUIRE(record.size == size);
        ring.reader.pass(record.size);
        REQUIRE(ring.reader.look(record) == RingReader::Look::nothing);
    };
    const auto lines_until = [&](std::uint64_t position) {
        while (ring.writer.position() < position) {
            REQUIRE(ring.write_line(7));
            take(8);
        }
    };
    const std::uint64_t at = passed_over ? kLines - lines_for(body) : 0;
    lines_until(at);
    // As the reader will wait for it at these lines: one lap later, or two where one lap passes them over.
    REQUIRE(ring.write(body, word_of(passed_over ? 3 : 2, Kind::message, 8)));
    take(body);
    if (passed_over) {
        lines_until(kLines + at);
        REQUIRE(ring.writer.reserve(body + 64) != nullptr); // begins at the start, and is not written
        REQUIRE(ring.reader.look(record) == RingReader::Look::nothing);
    }
    lines_until(4 * kLines);
}

// Both sides of "who waits and who has made room": one of them sees the other. Each round races the two
// stores against the two loads that follow them.
TEST_CASE("a reader that gives lines back and a writer that starts to wait never miss each other") {
    constexpr std::uint32_t kLines = 64;
    constexpr std::uint64_t kRounds = kSanitized ? 5'000 : 200'000;
    const auto until = std::chrono::steady_clock::now() + 1s; // a core alone switches threads in each round
    Ring ring(kLines);
    alignas(64) std::atomic<std::uint64_t> waiting{0}; // on a line of its own, as in Direction
    alignas(64) std::atomic<std::uint64_t> round{0};
    alignas(64) std::atomic<std::uint64_t> done{0};
    std::atomic<bool> stop{false};
    std::uint64_t seen_by_writer = 0;
    std::thread writer([&] {
        for (std::uint64_t n = 1; n <= kRounds; ++n) {
            for (int spins = 0; round.load(std::memory_order_acquire) < n;)
                if (++spins > 1'000) std::this_thread::yield();
            if (stop.load(std::memory_order_relaxed)) return;
            waiting.store(n, std::memory_order_seq_cst);
            seen_by_writer = ring.consumed.load(std::memory_order_seq_cst);
            done.store(n, std::memory_order_release);
        }
    });
    RingReader::Record record{};
    std::uint64_t missed = 0;
    for (std::uint64_t n = 1; n <= kRounds; ++n) {
        for (std::uint32_t i = 0; i < kLines / 4; ++i) (void)ring.write_line(n);
        for (std::uint32_t i = 0; i + 1 < kLines / 4; ++i) {
            (void)ring.reader.look(record);
            (void)ring.reader.pass(record.size);
        }
        (void)ring.reader.look(record);
        round.store(n, std::memory_order_release);
        for (volatile std::uint64_t delay = n % 61; delay > 0;)
            delay = delay - 1;                           // until both are at it at once
        const bool told = ring.reader.pass(record.size); // the last of a quarter
        const bool saw_it = waiting.load(std::memory_order_seq_cst) == n;
        for (int spins = 0; done.load(std::memory_order_acquire) < n;)
            if (++spins > 1'000) std::this_thread::yield();
        if (!told || (!saw_it && seen_by_writer != n * kLines / 4)) ++missed;
        if (n % 64 == 0 && std::chrono::steady_clock::now() > until) {
            stop = true;
            round = kRounds;
            break;
        }
    }
    writer.join();
    CHECK(missed == 0);
}

TEST_CASE("a reader that has read everything leaves room for the longest record") {
    // At each place in the ring, also where a filler is needed first.
    for (std::uint32_t start = 0; start < 200; ++start) {
        Ring ring(64);
        RingReader::Record record{};
        for (std::uint32_t i = 0; i < start; ++i) {
            REQUIRE(ring.write_line(i));
            REQUIRE(ring.reader.look(record) == RingReader::Look::record);
            ring.reader.pass(record.size);
        }
        CHECK(ring.consumed >= ring.writer.roomy_at());
        CHECK(ring.write(ring.writer.largest(), start));
        CHECK(ring.reader.look(record) == RingReader::Look::record);
    }
}

TEST_CASE("a full ring refuses, and goes on when the reader has told of a quarter") {
    Ring ring(64);
    std::uint64_t written = 0;
    while (ring.write_line(written)) ++written;
    CHECK(written == 64);
    RingReader::Record record{};
    bool told = false;
    for (std::uint64_t i = 0; i < 16; ++i) {
        CHECK_FALSE(ring.write_line(written));
        REQUIRE(ring.reader.look(record) == RingReader::Look::record);
        told = ring.reader.pass(record.size);
        CHECK(told == (i == 15));
    }
    CHECK(ring.write_line(written));
}

TEST_CASE("a reader's progress that can't be is not believed") {
    Ring ring(64);
    while (ring.write_line(1)) {}
    ring.consumed = 65; // ahead of the writer
    CHECK_FALSE(ring.write_line(1));
    ring.consumed = 64;
    CHECK(ring.write_line(1));
    ring.consumed = 3; // it goes back
    for (int i = 0; i < 63; ++i) REQUIRE(ring.write_line(1));
    CHECK_FALSE(ring.write_line(1));
}

TEST_CASE("a record whose length leaves the ring is corrupt") {
    RingReader::Record record{};
    SECTION("a message") {
        Ring ring(64);
        ring.lines[0].word = word_of(1, Kind::message, 64 * 64);
        CHECK(ring.reader.look(record) == RingReader::Look::corrupt);
        CHECK(ring.reader.corrupt());
    }
    SECTION("in the last line") {
        Ring ring(64);
        for (int i = 0; i < 63; ++i) {
            REQUIRE(ring.write_line(1));
            REQUIRE(ring.reader.look(record) == RingReader::Look::record);
            ring.reader.pass(record.size);
        }
        ring.lines[63].word = word_of(1, Kind::message, kLineBody + 1);
        CHECK(ring.reader.look(record) == RingReader::Look::corrupt);
    }
    SECTION("fillers without end") {
        Ring ring(64);
        ring.lines[0].word = word_of(1, Kind::filler, 0);
        CHECK(ring.reader.look(record) == RingReader::Look::corrupt);
    }
}

TEST_CASE("a writer and a reader on two threads agree on every byte") {
    Ring ring(64);
    constexpr std::uint64_t kRecords = kSanitized ? 100'000 : 1'000'000;
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        std::minstd_rand random(11);
        for (std::uint64_t i = 0; i < kRecords && !stop; ++i) {
            const bool small = random() % 4 != 0;
            const auto size =
                static_cast<std::uint32_t>(random() % (small ? kLineBody + 1 : ring.writer.largest() + 1));
            while (!ring.write(size, i) && !stop) std::this_thread::yield();
        }
    });
    std::uint64_t wrong = 0;
    std::uint64_t read = 0;
    RingReader::Record record{};
    CHECK(eventually(60s, [&] {
        while (read < kRecords && ring.reader.look(record) == RingReader::Look::record) {
            if (!filled_with(record, read)) ++wrong;
            ring.reader.pass(record.size);
            ++read;
        }
        return read == kRecords || ring.reader.corrupt();
    }));
    stop = true;
    writer.join();
    CHECK(read == kRecords);
    CHECK(wrong == 0);
}

} // namespace ring_test
