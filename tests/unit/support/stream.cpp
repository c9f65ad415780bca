// SPDX-License-Identifier: BSD-3-Clause
// A check that could not fail would be worth nothing: each kind of damage to a stream of
// messages is seen.
#include "support/stream.h"
#include "support/catch.h"

namespace stream_test {

using namespace plexus::testing;

TEST_CASE("content is the same for the same message, and other for another") {
    for (const std::size_t size : {1, 7, 8, 9, 100, 4'097}) {
        CAPTURE(size);
        Bytes bytes = content(1, 2, size);
        CHECK(has_content(bytes, 1, 2));
        CHECK_FALSE(has_content(content(1, 3, 100), 1, 2));
        CHECK_FALSE(has_content(content(2, 2, 100), 1, 2));
        bytes.back() ^= std::byte{1};
        CHECK_FALSE(has_content(bytes, 1, 2));
        bytes.back() ^= std::byte{1};
        bytes.front() ^= std::byte{0x80};
        CHECK_FALSE(has_content(bytes, 1, 2));
    }
}

TEST_CASE("mixed sizes are mostly small and reach far") {
    const SizeOf size_of = mixed(1'000'000);
    std::size_t small = 0;
    std::size_t largest = 0;
    for (std::uint64_t n = 0; n < 10'000; ++n) {
        small += size_of(n) < 200 ? 1 : 0;
        largest = std::max(largest, size_of(n));
    }
    CHECK(small > 9'000);
    CHECK(largest > 900'000);
    CHECK(largest < 1'000'000);
}

} // namespace stream_test
