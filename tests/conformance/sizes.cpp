// SPDX-License-Identifier: BSD-3-Clause
// Promise: every size works, from nothing to 64 MiB, and best of all around the sizes at
// which a module changes its way of carrying; however the message is cut into pieces.
#include "support/catch.h"
#include "support/stream.h"

#include <set>

namespace sizes_test {

using namespace plexus::testing;

namespace {

constexpr std::size_t kMost = std::size_t{64} << 20;

// Stream's first message only introduces it: sizes count from the second.
SizeOf listed(const std::vector<std::size_t>& sizes) {
    return [&sizes](std::uint64_t n) { return n == 0 ? 8 : sizes.at(n - 1); };
}

std::string carry_all(Pair& pair, const std::vector<std::size_t>& sizes) {
    return carry(pair, listed(sizes), sizes.size() + 1, 60s);
}

} // namespace

TEST_CASE("every size up to 600 bytes arrives") {
    Pair pair(method_under_test());
    std::vector<std::size_t> sizes;
    for (std::size_t size = 0; size <= 600; ++size)
        sizes.insert(sizes.end(), 3, size); // heads and pieces vary
    CHECK(carry_all(pair, sizes) == "");
}

TEST_CASE("sizes around each switch of protocol arrive") {
    Pair pair(method_under_test());
    std::set<std::size_t> sizes;
    for (const plexus_query what : {PLEXUS_QUERY_INLINE_BYTES, PLEXUS_QUERY_EAGER_BYTES}) {
        const auto border = static_cast<std::size_t>(pair.a.query(what, pair.to_b));
        // Headers count or not: a neighbourhood covers both readings.
        for (std::size_t away = 0; away <= 160; away += away < 4 ? 1 : 4) {
            sizes.insert(border + away);
            if (border >= away) sizes.insert(border - away);
        }
    }
    std::erase_if(sizes, [&](std::size_t size) { return size > at_most(kMost); });
    std::vector<std::size_t> each;
    for (const std::size_t size : sizes) each.insert(each.end(), size < 100'000 ? 9 : 2, size);
    CHECK(carry_all(pair, each) == "");
}

TEST_CASE("sizes around each power of two up to 64 MiB arrive") {
    Pair pair(method_under_test());
    std::vector<std::size_t> sizes;
    for (std::size_t power = 1; power <= at_most(kMost); power *= 2)
        for (const std::size_t size : {power - 1, power, power + 1})
            if (size <= at_most(kMost) && (!kSanitized || power <= (std::size_t{4} << 20)))
                sizes.push_back(size);
    if (kSanitized) sizes.push_back(at_most(kMost / 4));
    CHECK(carry_all(pair, sizes) == "");
}

TEST_CASE("large and small messages in turn keep their order") {
    Pair pair(method_under_test());
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < 60; ++i) {
        sizes.push_back(at_most(std::size_t{1} << (10 + i % 12)));
        sizes.insert(sizes.end(), i % 5, 16);
    }
    CHECK(carry_all(pair, sizes) == "");
}

TEST_CASE("empty pieces and a hundred pieces make one message") {
    Pair pair(method_under_test());
    const Bytes whole = content(1, 1, 100'000);
    for (const std::size_t piece : {std::size_t{3}, at_most(100'000) / 100}) {
        std::vector<plexus_view> pieces{{nullptr, 0}};
        std::size_t at = 0;
        while (pieces.size() < 100) {
            pieces.push_back({whole.data() + at, piece});
            at += piece;
            if (pieces.size() % 7 == 0) pieces.push_back({whole.data(), 0});
        }
        std::optional<Bytes> got;
        std::int32_t status = PLEXUS_AGAIN;
        CHECK(pair.pump(10s, [&] {
            if (status == PLEXUS_AGAIN) status = pair.a.send_pieces(*pair.to_b, pieces);
            if (!got) got = pair.to_a->take();
            return got.has_value() && pair.to_b->posted() == pair.to_b->completed();
        }));
        REQUIRE(got.has_value());
        CHECK(*got == Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)));
    }
}

TEST_CASE("a message above the module's own limit is refused by its sender") {
    Pair pair(method_under_test());
    const std::uint64_t most = pair.a.query(PLEXUS_QUERY_MAX_MESSAGE);
    if (most == 0) SKIP_TEST("this module has no limit of its own");
    if (most > kMost) SKIP_TEST("the module's limit is above what a test can hold");
    const auto message = std::make_shared<Bytes>(static_cast<std::size_t>(most) + 1);
    CHECK(pair.a.send(*pair.to_b, message, 16, 2) == PLEXUS_TOO_LARGE);
    CHECK(carry(pair, always(64), 10) == "");
}

} // namespace sizes_test
