// SPDX-License-Identifier: BSD-3-Clause
// The area's bookkeeping: parts never overlap, and only what was released is used again.
#include "support/catch.h"

#include "shm/area.h"

#include <deque>
#include <random>

namespace area_test {

using namespace plexus::shm;
using plexus::SealedMemory;

namespace {

constexpr std::uint64_t kSize = 1 << 16;

struct Area {
    Area() {
        plexus::UniqueFd fd;
        writer.attach(released);
        writer.give(SealedMemory::create("test area", kSize, fd));
    }
    std::atomic<std::uint64_t> released{0};
    AreaWriter writer;
};

} // namespace

TEST_CASE("parts that are held never overlap, and lie inside the area") {
    Area area;
    std::minstd_rand random(3);
    std::deque<AreaBody> held;
    for (int i = 0; i < 20'000; ++i) {
        if (const auto part = area.writer.take(1 + random() % (kSize / 4))) {
            REQUIRE(part->offset % kLineBytes == 0);
            REQUIRE(part->offset + part->size <= kSize);
            for (const AreaBody& other : held)
                REQUIRE(
                    (part->offset + part->size <= other.offset || other.offset + other.size <= part->offset));
            held.push_back(*part);
        } else {
            REQUIRE_FALSE(held.empty());
            area.released = held.front().release_to;
            held.pop_front();
        }
    }
}

TEST_CASE("an area that has been released has room for a quarter of it") {
    Area area;
    std::minstd_rand random(5);
    for (int i = 0; i < 1'000; ++i) {
        const auto odd = area.writer.take(1 + random() % 5'000);
        REQUIRE(odd);
        area.released = odd->release_to;
        CHECK(area.released >= area.writer.roomy_at(kSize / 4));
        const auto quarter = area.writer.take(kSize / 4);
        REQUIRE(quarter);
        area.released = quarter->release_to;
    }
    CHECK(area.writer.held() == 0);
}

TEST_CASE("a release of what was never taken is not believed") {
    Area area;
    for (int i = 0; i < 4; ++i) REQUIRE(area.writer.take(kSize / 4));
    area.released = kSize + 1;
    CHECK_FALSE(area.writer.take(1));
    area.released = kSize;
    CHECK(area.writer.take(1));
    area.released = kSize / 2; // it goes back
    CHECK_FALSE(area.writer.take(kSize / 4 * 4));
    CHECK_FALSE(area.writer.discard());
}

TEST_CASE("an area is given back only when nothing of it is held") {
    Area area;
    const auto part = area.writer.take(100);
    REQUIRE(part);
    area.writer.at(*part)[0] = std::byte{1};
    CHECK_FALSE(area.writer.discard());
    area.released = part->release_to;
    CHECK(area.writer.discard());
    CHECK(area.writer.at(*part)[0] == std::byte{0});
}

} // namespace area_test
