// SPDX-License-Identifier: BSD-3-Clause
// Promise: close, drain and destroy end a module at any moment, in bounded time, and
// nothing of it is left: no callback (the bare host watches), descriptor, thread or file.
#include "support/catch.h"
#include "support/footprint.h"
#include "support/stream.h"

#include <malloc.h>
#include <sys/resource.h>

namespace teardown_test {

using namespace plexus::testing;

namespace {

std::shared_ptr<const Bytes> some_bytes(std::size_t size) {
    return std::make_shared<const Bytes>(content(5, size, size));
}

// How many messages are sent before an end goes: of large ones a few do.
int under_way(std::size_t size) { return size < 1'000'000 ? 8 : 3; }

// A few thousand idle links need descriptors; the soft limit is often 1,024.
void raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

TEST_CASE("a module that has been closed refuses links and sends") {
    Pair pair(method_under_test());
    const Bytes there = pair.b.descriptor();
    pair.a.close();
    std::int32_t status = PLEXUS_OK;
    CHECK(pair.a.connect(there, pair.b.id(), &status) == nullptr);
    CHECK(status >= 10);
    CHECK(pair.a.send(*pair.to_b, some_bytes(10), 10, 1) >= 10);
}

TEST_CASE("the other side learns that a module has ended") {
    Pair pair(method_under_test());
    pair.a.close();
    pair.a.drain();
    CHECK(pump({&pair.b}, 10s, [&] { return pair.to_a->is_lost(); }));
    pair.a.destroy();
    pair.b.poll();
}

TEST_CASE("no message up to the eager size is posted, also where the other side has just ended") {
    Pair pair(method_under_test());
    const std::uint64_t eager = pair.a.query(PLEXUS_QUERY_EAGER_BYTES, pair.to_b);
    pair.b.close();
    pair.b.drain();
    pair.b.destroy(); // which a has not polled for
    for (const std::uint64_t size : {std::uint64_t{8}, eager / 16, eager / 2, eager}) {
        CAPTURE(size);
        CHECK(pair.a.send(*pair.to_b, some_bytes(at_most(size)), 8, 2) != PLEXUS_POSTED);
    }
    CHECK(pump({&pair.a}, 10s, [&] { return pair.to_b->is_lost(); }));
}

TEST_CASE("a connection to a module that has ended is lost, with a reason") {
    BareHost a(method_under_test());
    Bytes there;
    plexus_id id{};
    {
        BareHost b(method_under_test());
        there = b.descriptor();
        id = b.id();
    }
    std::int32_t status = PLEXUS_OK;
    End* end = a.connect(there, id, &status);
    if (end == nullptr) {
        CHECK(status >= 10);
    } else {
        CHECK(pump({&a}, 10s, [&] { return end->is_lost(); }));
        CHECK(end->lost_status() >= PLEXUS_LINK_LOST);
        CHECK(end->lost_why() != "");
    }
}

TEST_CASE("a receiver may end with messages under way") {
    const std::size_t size = at_most(GENERATE(std::size_t{100}, std::size_t{20'000}, std::size_t{2'000'000}));
    CAPTURE(size);
    for (int polls = 0; polls < 12; ++polls) {
        Pair pair(method_under_test());
        const auto message = some_bytes(size);
        for (int i = 0; i < under_way(size); ++i) pair.a.send(*pair.to_b, message, 32, 3);
        for (int i = 0; i < polls; ++i) {
            pair.a.poll();
            pair.b.poll(1);
        }
        pair.b.close();
        pair.b.drain();
        pair.b.destroy();
        CHECK(pump({&pair.a}, 10s, [&] { return pair.to_b->is_lost(); }));
        CHECK(pair.to_b->posted() == pair.to_b->completed());
    }
}

TEST_CASE("a sender may end with messages under way") {
    const std::size_t size = at_most(GENERATE(std::size_t{100}, std::size_t{20'000}, std::size_t{2'000'000}));
    CAPTURE(size);
    for (int polls = 0; polls < 12; ++polls) {
        Pair pair(method_under_test());
        std::uint64_t wrong = 0;
        pair.b.hooks.message = [&](End&, ByteView got) {
            wrong += has_content(got, 5, size) && got.size() == size ? 0 : 1;
        };
        auto message = std::make_shared<Bytes>(content(5, size, size));
        for (int i = 0; i < under_way(size); ++i) pair.a.send(*pair.to_b, message, 32, 3);
        for (int i = 0; i < polls; ++i) {
            pair.a.poll();
            pair.b.poll(1);
        }
        pair.a.close();
        pair.a.drain(); // nobody reads the pieces any more
        std::fill(message->begin(), message->end(), std::byte{0});
        pair.a.destroy();
        CHECK(pump({&pair.b}, 10s, [&] { return pair.to_a->is_lost(); }));
        CHECK(wrong == 0);
    }
}

TEST_CASE("a module may end while a link of it is being made") {
    for (int polls = 0; polls < 8; ++polls) {
        BareHost b(method_under_test());
        BareHost a(method_under_test());
        REQUIRE(a.connect(b.descriptor(), b.id()) != nullptr);
        for (int i = 0; i < polls; ++i) {
            a.poll();
            b.poll();
        }
        a.close();
        a.drain();
        a.destroy();
        for (int i = 0; i < 100; ++i) b.poll();
    }
}

TEST_CASE("a link may be given up while it is being made") {
    for (int polls = 0; polls < 8; ++polls) {
        BareHost b(method_under_test());
        BareHost a(method_under_test());
        End* end = a.connect(b.descriptor(), b.id());
        REQUIRE(end != nullptr);
        for (int i = 0; i < polls; ++i) {
            a.poll();
            b.poll();
        }
        a.disconnect(*end);
        CHECK(pump({&a, &b}, 10s,
                   [&] { return a.query(PLEXUS_QUERY_LINKS) == 0 && b.query(PLEXUS_QUERY_LINKS) == 0; }));
    }
}

TEST_CASE("a link with posted sends may be given up, and each of them is ended") {
    Pair pair(method_under_test());
    for (int i = 0; i < 4; ++i) pair.a.send(*pair.to_b, some_bytes(at_most(3'000'000)), 32, 3);
    pair.a.disconnect(*pair.to_b);
    CHECK(pair.pump(20s, [&] { return pair.to_b->posted() == pair.to_b->completed(); }));
    CHECK(pair.pump(10s, [&] { return pair.to_a->is_lost(); }));
}

TEST_CASE("a link that both ends give up at once ends, and is counted off once at each") {
    const std::size_t size = at_most(GENERATE(std::size_t{100}, std::size_t{20'000}, std::size_t{3'000'000}));
    CAPTURE(size);
    for (const int senders : {0, 1, 2}) {
        CAPTURE(senders);
        Pair pair(method_under_test());
        for (int i = 0; i < 4 && senders > 0; ++i) {
            pair.b.send(*pair.to_a, some_bytes(size), 32, 3);
            if (senders > 1) pair.a.send(*pair.to_b, some_bytes(size), 32, 3);
        }
        pair.a.disconnect(*pair.to_b);
        pair.b.disconnect(*pair.to_a);
        const auto links = [&] {
            return pair.a.query(PLEXUS_QUERY_LINKS) + pair.b.query(PLEXUS_QUERY_LINKS);
        };
        CHECK(pair.pump(20s, [&] {
            return links() == 0 && pair.to_b->posted() == pair.to_b->completed() &&
                   pair.to_a->posted() == pair.to_a->completed();
        }));
        for (int i = 0; i < 300; ++i) { // whatever was still on its way
            pair.a.poll();
            pair.b.poll();
        }
        CHECK(links() == 0);
    }
}

TEST_CASE("nothing is left of a module that has ended") {
    const auto live_once = [] {
        Pair pair(method_under_test());
        REQUIRE(carry(pair, mixed(at_most(2'000'000)), 100) == "");
        link_up(pair.b, pair.a);
        pair.a.send(*pair.to_b, some_bytes(at_most(3'000'000)), 32, 3); // ends half sent
    };
    live_once(); // what the system's libraries keep for good
    const Footprint before = Footprint::now();
    for (int i = 0; i < 5; ++i) live_once();
    const Footprint after = Footprint::settled(before.threads);
    CHECK(after.descriptors == before.descriptors);
    CHECK(after.threads <= before.threads);
    CHECK(after.left_since(before).empty());
}

TEST_CASE("nothing is left of links that have come and gone") {
    BareHost a(method_under_test());
    BareHost b(method_under_test());
    const auto live_once = [&] {
        End* end = link_up(a, b);
        REQUIRE(end != nullptr);
        a.push(*end, some_bytes(at_most(1'000'000)));
        REQUIRE(pump({&a, &b}, 10s, [&] { return b.incoming().back()->received() == 1; }));
        a.disconnect(*end);
        REQUIRE(pump({&a, &b}, 10s,
                     [&] { return a.query(PLEXUS_QUERY_LINKS) + b.query(PLEXUS_QUERY_LINKS) == 0; }));
    };
    for (int i = 0; i < 3; ++i) live_once();
    const Footprint before = Footprint::now();
    for (int i = 0; i < 20; ++i) live_once();
    const Footprint after = Footprint::settled(before.threads);
    CHECK(after.descriptors <= before.descriptors + 2); // one may still be closing
    CHECK(after.threads <= before.threads);
    CHECK(after.left_since(before).empty());
}

TEST_CASE("a module has no thread of its own") {
    const Footprint before = Footprint::now();
    Pair pair(method_under_test());
    REQUIRE(carry(pair, mixed(at_most(100'000)), 100) == "");
    CHECK(Footprint::now().threads == before.threads);
}

TEST_CASE("an idle link costs little memory") {
    constexpr std::size_t kLinks = 64;
    constexpr std::int64_t kSharedMost = 64 * 1024;
    constexpr std::int64_t kHeapMost = 32 * 1024;
    if (kSanitized) SKIP_TEST("a sanitizer's heap is not the program's");
    raise_descriptor_limit();
    BareHost hub(method_under_test());
    std::vector<std::unique_ptr<BareHost>> peers;
    for (std::size_t i = 0; i < kLinks + 1; ++i)
        peers.push_back(std::make_unique<BareHost>(method_under_test()));
    // What is made once, by the hub and by each of its peers: this is about links.
    REQUIRE(link_up(*peers[0], hub) != nullptr);
    for (std::size_t i = 1; i <= kLinks; ++i) REQUIRE(link_up(*peers[i], *peers[0]) != nullptr);
    // Signed: what was freed meanwhile makes less of it than there was.
    const auto heap = [] { return static_cast<std::int64_t>(::mallinfo2().uordblks); };
    const auto shared = [&] { return static_cast<std::int64_t>(hub.query(PLEXUS_QUERY_SHARED_BYTES)); };
    const std::int64_t heap_before = heap();
    const std::int64_t shared_before = shared();
    for (std::size_t i = 1; i <= kLinks; ++i) {
        End* far = nullptr;
        End* near = link_up(*peers[i], hub, &far);
        REQUIRE(near != nullptr);
        REQUIRE(hub.push(*far, some_bytes(100)));
        REQUIRE(pump({&hub, peers[i].get()}, 10s, [&] { return near->take().has_value(); }));
    }
    // Both ends are in this process: the heap holds each link twice.
    CHECK((heap() - heap_before) / std::int64_t{kLinks} / 2 <= kHeapMost);
    CHECK((shared() - shared_before) / std::int64_t{kLinks} <= kSharedMost);
}

} // namespace teardown_test
