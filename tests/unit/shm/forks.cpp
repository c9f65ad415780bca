// SPDX-License-Identifier: BSD-3-Clause
// Processes that fork without exec: the child has every socket and every shared page of its parent.
#include "parts.h"
#include "support/catch.h"
#include "support/sleeper.h"

#include "base/unique_fd.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forks_test {

using namespace plexus::testing;
using plexus::UniqueFd;

namespace {

/// Keeps processes that wait for its end alive until the end of the scope; made before they are.
struct Lifetime {
    Lifetime() { REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
    ~Lifetime() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    /// In a child: until the parent's scope has ended, or the parent itself.
    void wait() const {
        ::close(ends[1]);
        char none = 0;
        (void)!::read(ends[0], &none, 1);
    }
    int ends[2] = {-1, -1};
};

// A member with a link, whose forked child goes on after it.
Process member_with_child(const Lifetime& life) {
    return Process([&](Channel& parent) {
        BareHost host(shm());
        End* const end = meet(host, parent);
        if (end == nullptr) return 1;
        if (::fork() == 0) { // not of Process: it must outlive this one
            life.wait();
            ::_exit(0);
        }
        ::close(life.ends[1]);
        if (host.send(*end, numbered(8, 3), 8, 1) != PLEXUS_OK) return 2;
        signal_to(parent);
        pump({&host}, 60s, [] { return false; });
        return 3;
    });
}

} // namespace

TEST_CASE("the end of a process is noticed although a forked child of it lives") {
    const bool asleep = GENERATE(false, true);
    CAPTURE(asleep);
    const Lifetime life;
    Process member = member_with_child(life);
    BareHost host(shm());
    introduce(host, member.channel());
    REQUIRE(pump({&host}, 10s, [&] { return host.incoming_count() == 1; }));
    REQUIRE(pump({&host}, 10s, [&] { return member.channel().take(0ms).has_value(); }));
    End& end = *host.incoming().front();
    const auto sleeper = asleep ? std::make_unique<Sleeper>(host) : nullptr;
    if (sleeper) REQUIRE(eventually(5s, [&] { return sleeper->asleep(); }));
    member.kill(SIGKILL);
    CHECK(eventually(10s, [&] {
        if (!sleeper) host.poll();
        return end.is_lost();
    }));
    CHECK(end.lost_status() == PLEXUS_PEER_LOST);
    CHECK(end.lost_why() == "the peer's process ended");
    CHECK(end.received() == 1); // what it had sent before
}

TEST_CASE("a forked child that ends its parent's context, closes or exits does not disturb the links") {
    Pair pair(shm());
    REQUIRE(pair.a.send(*pair.to_b, numbered(3'000, 1), 24, 2) == PLEXUS_OK); // there is an area
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
    SECTION("it ends the contexts as programs do that return from main") {
        Process child([&](Channel&) {
            pair.a.close();
            pair.a.drain();
            pair.a.destroy();
            pair.b.destroy();
            return 0;
        });
        CHECK(child.wait(10s) == 0);
    }
    SECTION("it closes all descriptors") {
        Process child([](Channel&) {
            for (int fd = 3; fd < 256; ++fd) ::close(fd);
            return 0;
        });
        CHECK(child.wait(10s) == 0);
    }
    const auto carries = [](BareHost& from, End& to, End& far) {
        const std::uint64_t before = far.received();
        for (std::uint8_t i = 0; i < 10; ++i)
            if (!from.push(to, numbered(i % 2 == 0 ? 8 : 300'000, i))) return false;
        return pump({&from, &far.host}, 10s, [&] { return far.received() == before + 10; });
    };
    CHECK(carries(pair.a, *pair.to_b, *pair.to_a));
    CHECK(carries(pair.b, *pair.to_a, *pair.to_b));
    CHECK_FALSE(pair.to_a->is_lost());
    CHECK_FALSE(pair.to_b->is_lost());
    CHECK(link_up(pair.a, pair.b) != nullptr); // the parent's listener is still open
}

TEST_CASE("a link that is given up ends at the other side although a forked child holds the sockets") {
    const Lifetime life;
    Pair pair(shm());
    Process child([&](Channel&) {
        life.wait();
        return 0;
    });
    SECTION("by disconnect") {
        pair.a.disconnect(*pair.to_b);
        pair.a.poll();
    }
    SECTION("by the end of the context") {
        pair.a.close();
        pair.a.drain();
        pair.a.destroy();
    }
    CHECK(eventually(10s, [&] {
        pair.b.poll();
        return pair.to_a->is_lost();
    }));
    std::uint64_t sleep_ns = UINT64_MAX;
    CHECK(eventually(5s, [&] {
        pair.b.poll();
        return pair.b.arm(&sleep_ns) == PLEXUS_OK;
    })); // and nothing of it keeps the context awake
    CHECK_FALSE(pair.b.sleep(20ms));
}

} // namespace forks_test
