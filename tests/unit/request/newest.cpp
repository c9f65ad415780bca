// SPDX-License-Identifier: BSD-3-Clause
// Of requests that carry a number the newest wins: for each object and request, in bounded memory.
#include "request/newest.h"

#include "support/catch.h"

namespace newest_test {

using plexus::request::Newest;

TEST_CASE("what is older than the newest, or the same, is refused, for each object and request by itself") {
    Newest newest;
    CHECK(newest.take(1, 1, 5));
    CHECK(!newest.take(1, 1, 5));
    CHECK(!newest.take(1, 1, 4));
    CHECK(newest.take(1, 2, 4));
    CHECK(newest.take(2, 1, 4));
    CHECK(newest.take(1, 1, 6));
    CHECK(newest.take(1, 1, std::uint64_t{1} << 40));
    CHECK(!newest.take(3, 3, 0)); // numbers begin with 1
}

TEST_CASE("after very many objects older numbers are refused, and newer ones are taken as ever") {
    Newest newest;
    std::uint64_t number = 0;
    for (std::uint32_t object = 0; object < 20'000; ++object)
        if (!newest.take(object, 1, ++number)) FAIL("object " << object);
    for (std::uint32_t object = 0; object < 20'000; ++object)
        if (newest.take(object, 1, object + 1)) FAIL("again: object " << object);
    CHECK(newest.take(0, 1, ++number));
    CHECK(!newest.take(0, 1, number));
    CHECK(newest.take(19'999, 1, ++number));
}

} // namespace newest_test
