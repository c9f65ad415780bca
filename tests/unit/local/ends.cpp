// SPDX-License-Identifier: BSD-3-Clause
// Links that come and go: who is told, and that nobody's memory is touched after its end.
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <poll.h>
#include <sys/mman.h>
#include <thread>

namespace ends_test {

using namespace plexus::testing;

namespace {

const Method& local() { return find_method("local"); }

std::shared_ptr<const Bytes> message(std::size_t size) { return std::make_shared<const Bytes>(size); }

/// Memory of its own pages: a touch after the end is a signal.
class Pages {
  public:
    explicit Pages(std::size_t size)
      : size_(size)
      , at_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
                   0)) {
        REQUIRE(at_ != MAP_FAILED);
    }
    ~Pages() { ::munmap(at_, size_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    /// Nobody may touch it any more. It is not unmapped: the next allocation might lie in its place.
    void end() { REQUIRE(::mprotect(at_, size_, PROT_NONE) == 0); }
    /// A head of 24 bytes and the rest.
    std::int32_t send_by(BareHost& host, End& end) const {
        const plexus_view pieces[]{{at_, 24}, {static_cast<const std::byte*>(at_) + 24, size_ - 24}};
        return host.send_pieces(end, pieces);
    }

  private:
    std::size_t size_;
    void* at_;
};

} // namespace

TEST_CASE("a context of the same id can be there once at a time, and again after the first has ended") {
    BareOptions options;
    options.id = random_id();
    {
        const BareHost first(local(), options);
        const auto expected = expect_warning("a context of the same id");
        try {
            const BareHost second(local(), options);
            FAIL("two contexts of one id were opened");
        } catch (const OpenFailed& failed) { CHECK(failed.status == PLEXUS_BAD_CONFIG); }
    }
    CHECK_NOTHROW(BareHost(local(), options));
}

TEST_CASE("a descriptor that names another context than the one asked for leads to neither") {
    BareHost a(local());
    BareHost b(local());
    BareHost c(local());
    End* const end = a.connect(b.descriptor(), c.id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&a, &b, &c}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_WRONG_PEER);
    CHECK(b.incoming_count() + c.incoming_count() == 0);
}

TEST_CASE("a descriptor that is cut or too long is damaged") {
    BareHost a(local());
    BareHost b(local());
    Bytes bytes = b.descriptor();
    CHECK(a.applies(bytes) == PLEXUS_OK);
    bytes.push_back(std::byte{0});
    CHECK(a.applies(bytes) == PLEXUS_NO_METHOD);
    bytes.resize(bytes.size() - 2);
    CHECK(a.applies(bytes) == PLEXUS_NO_METHOD);
}

TEST_CASE("who connects to a context that closes meanwhile is told") {
    BareHost hub(local());
    BareHost a(local());
    End* const end = a.connect(hub.descriptor(), hub.id());
    REQUIRE(end != nullptr);
    hub.close();
    REQUIRE(pump({&hub, &a}, 10s, [&] { return end->is_lost(); }));
    CHECK(hub.incoming_count() == 0);
    CHECK_FALSE(end->is_opened());
}

TEST_CASE("who connects to a context that does not want the link is told, once") {
    BareHost hub(local());
    hub.hooks.accepted = [](End&) { return std::int32_t{PLEXUS_PEER_LOST}; };
    BareHost a(local());
    int lost = 0;
    a.hooks.lost = [&](End&) { ++lost; }; // its task of giving the link up is left for later
    End* const end = a.connect(hub.descriptor(), hub.id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&hub, &a}, 10s, [&] { return lost > 0; }));
    for (int i = 0; i < 10; ++i) {
        hub.poll();
        a.poll();
    }
    CHECK(lost == 1);
    CHECK(end->lost_why().find("did not take the link") != std::string::npos);
    CHECK_FALSE(end->is_opened());
    a.disconnect(*end);
    a.poll();
    CHECK(hub.query(PLEXUS_QUERY_LINKS) + a.query(PLEXUS_QUERY_LINKS) == 0);
}

TEST_CASE("a link whose other side leaves and then ends is lost once") {
    BareHost a(local());
    int lost = 0;
    {
        BareHost b(local());
        End* far = nullptr;
        REQUIRE(link_up(a, b, &far) != nullptr);
        a.hooks.lost = [&](End&) { ++lost; }; // its task of giving the link up is left for later
        b.disconnect(*far);
        b.poll(); // the other end is told
    }             // and here again
    for (int i = 0; i < 10; ++i) a.poll();
    CHECK(lost == 1);
}

TEST_CASE("a send that came too early is followed by writable") {
    BareHost hub(local());
    BareHost a(local());
    int writable = 0;
    a.hooks.writable = [&](End&) { ++writable; };
    End* const end = a.connect(hub.descriptor(), hub.id());
    REQUIRE(end != nullptr);
    REQUIRE(a.send(*end, message(32), 24, 2) == PLEXUS_AGAIN);
    REQUIRE(pump({&hub, &a}, 10s, [&] { return end->is_opened() && writable > 0; }));
    CHECK(a.send(*end, message(32), 24, 2) == PLEXUS_OK);
}

TEST_CASE("a context that closes sends no message more") {
    Pair pair(local());
    pair.a.close();
    CHECK(pair.a.send(*pair.to_b, message(32), 24, 2) == PLEXUS_LINK_LOST);
}

TEST_CASE("what is sent to a context that has drained, or to a link that was given up, is refused") {
    Pair pair(local());
    const bool drained = GENERATE(true, false);
    CAPTURE(drained);
    if (drained) {
        pair.b.close();
        pair.b.drain();
    } else {
        pair.b.disconnect(*pair.to_a);
    }
    CHECK(pair.a.send(*pair.to_b, message(32), 24, 2) == PLEXUS_LINK_LOST);
    CHECK(pair.a.send(*pair.to_b, message(100'000), 24, 2) == PLEXUS_LINK_LOST);
}

TEST_CASE("messages that wait when a link is given up are not delivered") {
    Pair pair(local());
    for (const std::size_t size : {32u, 100'000u}) (void)pair.a.send(*pair.to_b, message(size), 24, 2);
    pair.b.disconnect(*pair.to_a); // a callback after this is a broken promise
    CHECK(pair.pump(10s, [&] { return pair.to_b->is_lost() && pair.to_b->completed() == 1; }));
    CHECK(pair.to_a->received() == 0);
}

TEST_CASE("a large message that its receiver does not want is over for its sender") {
    Pair pair(local());
    std::int32_t outcome = PLEXUS_AGAIN;
    pair.a.hooks.sent = [&](End&, std::int32_t status) { outcome = status; };
    pair.b.hooks.place = [](End&, std::size_t) { return std::int32_t{PLEXUS_TOO_LARGE}; };
    REQUIRE(pair.a.send(*pair.to_b, message(100'000), 24, 2) == PLEXUS_POSTED);
    REQUIRE(pair.pump(10s, [&] { return pair.to_b->completed() == 1; }));
    CHECK(outcome == PLEXUS_OK);
}

TEST_CASE("a message wakes a context that sleeps, the first of several once") {
    Pair pair(local());
    const auto readable = [&](int milliseconds) {
        pollfd look{pair.b.wait_fd(), POLLIN, 0};
        return ::poll(&look, 1, milliseconds) == 1;
    };
    for (std::uint64_t round = 1; round <= 3; ++round) {
        std::uint64_t sleep_ns = UINT64_MAX;
        REQUIRE(eventually(10s, [&] {
            pair.b.poll();
            return pair.b.arm(&sleep_ns) == PLEXUS_OK;
        }));
        CHECK_FALSE(readable(0));
        for (int i = 0; i < 3; ++i) REQUIRE(pair.a.send(*pair.to_b, message(32), 24, 2) == PLEXUS_OK);
        CHECK(readable(10'000));
        pair.b.poll();
        CHECK(pair.to_a->received() == 3 * round);
        CHECK_FALSE(readable(0));
    }
}

TEST_CASE("a posted message is not read any more after its sender has drained") {
    Pages pages(1 << 20);
    Pair pair(local());
    REQUIRE(pages.send_by(pair.a, *pair.to_b) == PLEXUS_POSTED);
    pair.a.close();
    pair.a.drain();
    pages.end();
    CHECK(pump({&pair.b}, 10s, [&] { return pair.to_a->is_lost(); }));
    CHECK(pair.to_a->received() == 0);
}

TEST_CASE("a sender that drains waits for the copy of its posted message that is under way") {
    for (int round = 0; round < 5; ++round) {
        Pages pages(32 << 20);
        Pair pair(local());
        std::atomic<bool> placing{false};
        pair.b.hooks.place = [&](End&, std::size_t) {
            placing = true;
            return std::int32_t{PLEXUS_OK};
        };
        REQUIRE(pages.send_by(pair.a, *pair.to_b) == PLEXUS_POSTED);
        std::thread receiver([&] { pair.b.poll(); });
        while (!placing) std::this_thread::yield();
        std::this_thread::sleep_for(1ms); // the copy takes longer
        pair.a.close();
        pair.a.drain();
        pages.end();
        receiver.join();
    }
}

TEST_CASE("a message with a head that is too long is refused, not cut") {
    Pair pair(local());
    const Bytes large(100'000);
    const plexus_view pieces[]{{large.data(), PLEXUS_HEAD_MAX + 1}, {large.data(), large.size()}};
    CHECK(pair.a.send_pieces(*pair.to_b, pieces) == PLEXUS_BAD_ARGUMENT);
    const plexus_view good[]{{large.data(), PLEXUS_HEAD_MAX}, {large.data(), large.size()}};
    CHECK(pair.a.send_pieces(*pair.to_b, good) == PLEXUS_POSTED);
    CHECK(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
}

TEST_CASE("nothing is told about a placement whose link was given up while its place was asked for") {
    Pair pair(local());
    bool asked = false;
    pair.b.hooks.place = [&](End& end, std::size_t) {
        asked = true;
        pair.b.disconnect(end); // a callback after this is a broken promise
        return std::int32_t{PLEXUS_OK};
    };
    REQUIRE(pair.a.send(*pair.to_b, message(100'000), 24, 2) == PLEXUS_POSTED);
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == 1; }));
    CHECK(asked);
    CHECK(pair.to_a->placed() == 0);
}

} // namespace ends_test
