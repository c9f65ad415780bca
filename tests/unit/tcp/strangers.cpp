// SPDX-License-Identifier: BSD-3-Clause
// Whoever has not proved that it holds the key is closed, quietly and in bounded time,
// and never keeps those out who have.
#include "raw_peer.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"

#include "plexus/module/handshake.h"
#include "stream_link/listener.h"

#include <algorithm>
#include <atomic>
#include <sys/resource.h>
#include <thread>

namespace strangers_test {

using namespace plexus::testing;

namespace {

std::size_t lines_with(const BareHost& host, std::string_view part) {
    const auto lines = host.log_lines();
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    }));
}

} // namespace

TEST_CASE("random bytes on the port close the connection with one quiet line") {
    BareHost host(tcp());
    constexpr std::size_t kHello = plexus::module::Handshake::kHelloBytes;
    for (const std::size_t size : {kHello, kHello + 1, std::size_t{4096}, std::size_t{65'536}}) {
        RawPeer stranger(host);
        Bytes noise(size, std::byte{0x5a});
        stranger.send(noise);
        CHECK(stranger.closed_by(host, 5s));
    }
    CHECK(host.incoming_count() == 0);
    CHECK(lines_with(host, "debug: a connection from 127.0.0.1:") == 4);
    CHECK(lines_with(host, "") == 4);
    BareHost peer(tcp());
    CHECK(link_up(peer, host) != nullptr);
}

TEST_CASE("half a greeting and silence end after handshake_timeout, and others come in meanwhile") {
    BareHost host(tcp(), with({{"handshake_timeout", "300 ms"}}));
    RawPeer silent(host);
    RawPeer slow(host);
    slow.send(Bytes(50, std::byte{'P'}));
    BareHost peer(tcp());
    CHECK(link_up(peer, host) != nullptr);
    CHECK(silent.closed_by(host, 5s));
    CHECK(slow.closed_by(host, 5s));
    CHECK(host.incoming_count() == 1);
    CHECK(lines_with(host, "silent") == 2);
}

TEST_CASE("silent strangers that come back as soon as they are closed keep nobody out") {
    BareHost host(tcp()); // with the default time limits
    constexpr std::size_t kCrowd = 300;
    std::vector<std::unique_ptr<RawPeer>> crowd;
    for (std::size_t i = 0; i < kCrowd; ++i) crowd.push_back(std::make_unique<RawPeer>(host));
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> came_back{0};
    std::thread refill([&] {
        for (std::size_t i = 0; !stop; i = (i + 1) % kCrowd) {
            if (!crowd[i]->is_closed()) continue;
            crowd[i] = std::make_unique<RawPeer>(host);
            ++came_back;
        }
    });
    // Links that are made one after the other, as those of a job that repairs itself.
    bool all = pump({&host}, 10s, [&] { return came_back > 0; });
    for (int i = 0; all && i < 5; ++i) {
        BareHost peer(tcp());
        End* end = peer.connect(host.descriptor(), host.id());
        all = end != nullptr && pump({&peer, &host}, 6s, [&] { return end->is_open() || end->is_lost(); }) &&
              end->is_open();
    }
    stop = true;
    refill.join();
    CHECK(all);
}

TEST_CASE("the number of strangers is bounded: the oldest silent one makes room for the next") {
    constexpr std::size_t kMore = 40;
    BareHost host(tcp(), with({{"handshake_timeout", "60 s"}}));
    BareHost holder(tcp()); // of the key: its greeting says so, and it may stay
    RawPeer known(host);
    const auto hello = plexus::module::Handshake::connecting(holder.table(), host.id()).take_outgoing();
    known.send(std::as_bytes(std::span(hello)));
    for (int i = 0; i < 20; ++i) host.poll();
    std::vector<std::unique_ptr<RawPeer>> crowd;
    for (std::size_t i = 0; i + 1 < plexus::stream_link::Listener::kMostStrangers + kMore; ++i) {
        crowd.push_back(std::make_unique<RawPeer>(host));
        if (i % 8 == 0) host.poll();
    }
    const auto closed = [&] {
        return static_cast<std::size_t>(
            std::count_if(crowd.begin(), crowd.end(), [](const auto& each) { return each->is_closed(); }));
    };
    CHECK(pump({&host}, 5s, [&] { return closed() == kMore; }));
    for (int i = 0; i < 100; ++i) host.poll();
    CHECK(closed() == kMore);
    for (std::size_t i = 0; i < kMore; ++i) CHECK(crowd[i]->is_closed());
    CHECK_FALSE(known.is_closed());
}

TEST_CASE("a source with many silent connections loses its own, not those of others") {
    BareHost host(tcp(), with({{"handshake_timeout", "60 s"}}));
    RawPeer other(host, "127.0.0.9"); // older than every one of the crowd
    std::vector<std::unique_ptr<RawPeer>> crowd;
    for (std::size_t i = 0; i < plexus::stream_link::Listener::kMostStrangers + 20; ++i) {
        crowd.push_back(std::make_unique<RawPeer>(host));
        if (i % 8 == 0) host.poll();
    }
    CHECK(pump({&host}, 5s, [&] { return crowd[19]->is_closed(); }));
    CHECK_FALSE(other.is_closed());
}

TEST_CASE("who has greeted just before the next one comes keeps its place") {
    BareHost host(tcp(), with({{"handshake_timeout", "60 s"}}));
    BareHost holder(tcp());
    RawPeer oldest(host);
    std::vector<std::unique_ptr<RawPeer>> crowd;
    while (crowd.size() + 1 < plexus::stream_link::Listener::kMostStrangers)
        crowd.push_back(std::make_unique<RawPeer>(host));
    while (host.poll() > 0) {}
    crowd.push_back(std::make_unique<RawPeer>(host)); // one too many; found before what is said now
    const auto hello = plexus::module::Handshake::connecting(holder.table(), host.id()).take_outgoing();
    oldest.send(std::as_bytes(std::span(hello)));
    CHECK(pump({&host}, 5s, [&] { return crowd.front()->is_closed(); }));
    CHECK_FALSE(oldest.is_closed());
    CHECK(oldest.received_bytes() == plexus::module::Handshake::kAnswerBytes);
}

TEST_CASE("a greeting that is repeated word for word is answered but leads nowhere") {
    BareHost host(tcp());
    BareHost peer(tcp());
    RawPeer once(host);
    const RawPeer::Said said = once.shake_hands(peer, host);
    REQUIRE(pump({&host}, 5s, [&] { return host.incoming_count() == 1; }));
    RawPeer again(host);
    again.repeat(said, host);
    CHECK(again.closed_by(host, 5s));
    CHECK(host.incoming_count() == 1);
}

TEST_CASE("a process without free descriptors says so once, and accepts again when it has some") {
    Process child([](Channel&) {
        const auto expected = expect_warning("limit of open files");
        BareHost host(tcp(), with({{"listen", "127.0.0.1"}})); // the one way in
        BareHost peer(tcp());
        rlimit limit{};
        if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
        const rlim_t before = limit.rlim_cur;
        // The next descriptor is one that is free now: a limit there leaves none.
        const plexus::UniqueFd probe(::dup(0));
        RawPeer stranger(host);
        limit.rlim_cur = static_cast<rlim_t>(probe.get());
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 3;
        for (int i = 0; i < 1000; ++i) host.poll();
        if (expected.count() != 1) return 4;
        limit.rlim_cur = before;
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 5;
        return link_up(peer, host) != nullptr ? 0 : 6;
    });
    CHECK(child.wait(20'000ms).value_or(-1) == 0);
}

TEST_CASE("a link waits for a descriptor of this process, and is made as soon as there is one") {
    Process child([](Channel&) {
        BareHost from(tcp());
        BareHost to(tcp());
        const Bytes there = to.descriptor();
        rlimit limit{};
        if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
        const rlim_t before = limit.rlim_cur;
        const plexus::UniqueFd probe(::dup(0));
        limit.rlim_cur = static_cast<rlim_t>(probe.get());
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 3;
        End* const end = from.connect(there, to.id());
        for (int i = 0; i < 1000; ++i) from.poll();
        if (end == nullptr || end->is_lost()) return 4;
        limit.rlim_cur = before;
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 5;
        return pump({&from, &to}, 10s, [&] { return end->is_open(); }) ? 0 : 6;
    });
    CHECK(child.wait(20'000ms).value_or(-1) == 0);
}

TEST_CASE("a process without free descriptors gives one of a silent stranger to who comes next") {
    Process child([](Channel&) {
        const auto expected = expect_warning("limit of open files");
        BareHost host(tcp(), with({{"handshake_timeout", "60 s"}}));
        BareHost peer(tcp());
        RawPeer first(host);
        RawPeer second(host);
        while (host.poll() > 0) {}
        End* end = peer.connect(host.descriptor(), host.id());
        peer.poll(); // its socket is there, and waits to be accepted
        rlimit limit{};
        if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
        const int next_free = ::dup(0);
        ::close(next_free);
        limit.rlim_cur = static_cast<rlim_t>(next_free);
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 3;
        if (!pump({&peer, &host}, 10s, [&] { return end->is_open() || end->is_lost(); })) return 4;
        if (!end->is_open()) return 5;
        return first.is_closed() && !second.is_closed() ? 0 : 6;
    });
    CHECK(child.wait(20'000ms).value_or(-1) == 0);
}

} // namespace strangers_test
