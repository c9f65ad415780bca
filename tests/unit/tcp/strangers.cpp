// SPDX-License-Identifier: BSD-3-Clause
// Whoever has not proved that it holds the key is closed, quietly and in bounded time,
// and never keeps those out who have.
#include "raw_peer.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"

#include <algorithm>
#include <sys/resource.h>

using namespace plexus::testing;

namespace {

const Method& tcp() { return find_method("tcp"); }

BareOptions with(std::map<std::string, std::string> settings) {
    BareOptions options;
    options.settings = std::move(settings);
    return options;
}

std::size_t lines_with(const BareHost& host, std::string_view part) {
    const auto lines = host.log_lines();
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    }));
}

} // namespace

TEST_CASE("random bytes on the port close the connection with one quiet line") {
    BareHost host(tcp());
    for (const std::size_t size : {104u, 105u, 4096u, 65'536u}) {
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

TEST_CASE("a crowd of silent strangers delays others, but does not keep them out") {
    BareHost host(tcp(), with({{"handshake_timeout", "300 ms"}}));
    std::vector<std::unique_ptr<RawPeer>> crowd;
    for (int i = 0; i < 200; ++i) crowd.push_back(std::make_unique<RawPeer>(host));
    BareHost peer(tcp());
    CHECK(link_up(peer, host) != nullptr);
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
        BareHost host(tcp());
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
