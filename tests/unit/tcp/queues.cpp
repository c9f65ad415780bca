// SPDX-License-Identifier: BSD-3-Clause
// What a link keeps when its socket is full: how much, when it says that there is room again, and what
// becomes of it when the link ends.
#include "raw_peer.h"
#include "support/catch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace queues_test {

using namespace plexus::testing;

namespace {

/// The descriptor in this process of a connection to that port; -1: there is none.
int connected_to(std::uint16_t port) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int fd = std::atoi(entry.path().filename().c_str());
        sockaddr_storage address{};
        socklen_t size = sizeof address;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
        const auto at = address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(address).sin_port
                                                     : reinterpret_cast<sockaddr_in6&>(address).sin6_port;
        const bool internet = address.ss_family == AF_INET || address.ss_family == AF_INET6;
        if (internet && ntohs(at) == port) return fd;
    }
    return -1;
}

} // namespace

TEST_CASE("a link keeps no more small messages than its queue has room for") {
    constexpr std::size_t kMessage = 60 * 1024;
    constexpr std::size_t kWire = kMessage + 8; // with its frame's word
    BareHost self(tcp());
    BareHost host(tcp(), with({{"queue", "64 KiB"}, {"eager", "64 KiB"}, {"sndbuf", "16 KiB"}}));
    RawPeer raw(host);
    raw.shake_hands(self, host);
    REQUIRE(pump({&host}, 5s, [&] { return host.incoming_count() == 1; }));
    End& end = *host.incoming().front();
    const auto message = std::make_shared<const Bytes>(kMessage);
    std::size_t sent = 0;
    while (host.send(end, message, 24, 2) == PLEXUS_OK) sent += kWire;
    // Nobody polls: what is not in the kernel stays where it is.
    std::size_t came = 0;
    std::uint64_t kept = 0;
    CHECK(eventually(5s, [&] {
        came += raw.drop_received();
        kept = host.query(PLEXUS_QUERY_QUEUED_BYTES, &end);
        return came + kept == sent;
    }));
    CHECK(kept > 0);
    CHECK(kept <= 64 * 1024);
}

TEST_CASE("room is announced once for each send that found none, also for one while the link was made") {
    BareHost from(tcp(), with({{"sndbuf", "16 KiB"}, {"rcvbuf", "16 KiB"}}));
    BareHost to(tcp(), with({{"rcvbuf", "16 KiB"}}));
    to.hooks.message = [](End&, ByteView) {};
    int announced = 0;
    from.hooks.writable = [&](End&) { ++announced; };
    End* end = from.connect(to.descriptor(), to.id());
    REQUIRE(end != nullptr);
    const auto small = std::make_shared<const Bytes>(4'000);
    REQUIRE(from.send(*end, small, 24, 2) == PLEXUS_AGAIN);
    REQUIRE(pump({&from, &to}, 5s, [&] { return end->is_open(); }));
    CHECK(announced == 1);
    while (from.send(*end, small, 24, 2) == PLEXUS_OK) {}
    REQUIRE(pump({&from, &to}, 5s, [&] { return announced == 2; }));
    const auto large = std::make_shared<const Bytes>(4'000'000);
    const std::uint64_t before = end->completed();
    REQUIRE(from.send(*end, large, 24, 2) == PLEXUS_POSTED);
    REQUIRE(pump({&from, &to}, 5s, [&] { return end->completed() > before; }));
    CHECK(announced == 2);
}

TEST_CASE("large messages that have left make room for more") {
    BareHost from(tcp(), with({{"sndbuf", "16 KiB"}, {"eager", "1 KiB"}}));
    BareHost to(tcp(), with({{"rcvbuf", "16 KiB"}}));
    to.hooks.message = [](End&, ByteView) {};
    End* end = link_up(from, to);
    REQUIRE(end != nullptr);
    const auto large = std::make_shared<const Bytes>(100'000);
    while (end->completed() < 300) { // more than a link takes at a time
        REQUIRE(from.send(*end, large, 24, 2) >= PLEXUS_OK);
        REQUIRE(pump({&from, &to}, 5s, [&] { return end->completed() == end->posted(); }));
    }
    REQUIRE(from.send(*end, large, 24, 2) == PLEXUS_POSTED);
    CHECK(from.send(*end, large, 24, 2) == PLEXUS_POSTED);
    CHECK(pump({&from, &to}, 5s, [&] { return end->completed() == end->posted(); }));
}

TEST_CASE("what a link had accepted before it was given up still arrives") {
    BareHost from(tcp(), with({{"sndbuf", "16 KiB"}, {"linger", "20 s"}}));
    BareHost to(tcp(), with({{"rcvbuf", "16 KiB"}}));
    to.hooks.message = [](End&, ByteView) {};
    End* far = nullptr;
    End* end = link_up(from, to, &far);
    REQUIRE(end != nullptr);
    const auto message = std::make_shared<const Bytes>(4'000);
    std::uint64_t sent = 0;
    while (from.send(*end, message, 24, 2) == PLEXUS_OK) ++sent;
    from.disconnect(*end);
    CHECK(pump({&from, &to}, 10s, [&] { return far->is_lost(); }));
    CHECK(far->received() == sent);
}

TEST_CASE("a link whose socket takes no more bytes ends, although nothing is to be read from it") {
    Pair pair(tcp());
    const int fd = connected_to(port_of(pair.b));
    REQUIRE(fd >= 0);
    REQUIRE(::shutdown(fd, SHUT_WR) == 0);
    CHECK(pair.a.send(*pair.to_b, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_LINK_LOST);
    CHECK(pump({&pair.a}, 5s, [&] { return pair.to_b->is_lost(); })); // the other side says nothing
    CHECK(pair.to_b->lost_status() == PLEXUS_LINK_LOST);
}

TEST_CASE("what is set on a link holds for its socket") {
    Pair pair(tcp());
    const int fd = connected_to(port_of(pair.b));
    REQUIRE(fd >= 0);
    const auto nodelay = [&] {
        int value = -1;
        socklen_t size = sizeof value;
        return ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size) == 0 && value != 0;
    };
    CHECK(nodelay());
    CHECK(pair.a.set(*pair.to_b, "nodelay", "false") == PLEXUS_OK);
    CHECK_FALSE(nodelay());
    CHECK(pair.a.set(*pair.to_b, "nodelay", "true") == PLEXUS_OK);
    CHECK(nodelay());
}

} // namespace queues_test
