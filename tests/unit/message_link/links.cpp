// SPDX-License-Identifier: BSD-3-Clause
// The life of a link: who may open one, what keeps it, how it ends on both sides, and what a turn does for
// it.
#include "support/catch.h"
#include "support/stream.h"
#include "unit/message_link/memory_port.h"

#include <algorithm>
#include <memory>
#include <poll.h>
#include <thread>
#include <vector>

namespace links_test {

using namespace plexus::testing;
namespace message_link = plexus::message_link;

namespace {

constexpr const char* kWays[] = {"parts", "fetch", "carry"};

std::shared_ptr<const Bytes> message_of(std::size_t size) {
    return std::make_shared<const Bytes>(content(1, 1, size));
}

bool has_no_links(BareHost& host) { return host.query(PLEXUS_QUERY_LINKS) == 0; }

} // namespace

// ---- opening

TEST_CASE("a link that is given up while it opens is not opened, and ends on both sides") {
    BareHost from(memory_method(), memory({}));
    BareHost to(memory_method(), memory({}));
    End* const end = from.connect(to.descriptor(), to.id());
    REQUIRE(end != nullptr);
    from.poll(); // says hello
    from.disconnect(*end);
    CHECK(pump({&from, &to}, 10s,
               [&] { return to.incoming_count() == 1 && to.incoming().front()->is_lost(); }));
    CHECK(pump({&from, &to}, 10s, [&] { return has_no_links(from) && has_no_links(to); }));
    CHECK_FALSE(end->is_opened());
}

TEST_CASE("a peer that the host refuses learns it") {
    BareHost from(memory_method(), memory({}));
    BareHost to(memory_method(), memory({}));
    to.hooks.accepted = [](End&) { return std::int32_t{PLEXUS_DENIED}; };
    End* const end = from.connect(to.descriptor(), to.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&from, &to}, 10s, [&] { return end->is_lost(); }));
    CHECK(pump({&from, &to}, 10s, [&] { return has_no_links(from) && has_no_links(to); }));
}

TEST_CASE("who says hello and nothing more is forgotten after handshake_timeout") {
    BareHost from(memory_method(), memory({}));
    BareHost to(memory_method(), memory({{"handshake_timeout", "100 ms"}}));
    REQUIRE(from.connect(to.descriptor(), to.id()) != nullptr);
    from.poll(); // says hello, and does not hear the answer
    to.poll();
    CHECK(to.query(PLEXUS_QUERY_LINKS) == 1);
    CHECK(pump({&to}, 20s, [&] { return has_no_links(to); }));
    CHECK(to.incoming_count() == 0);
}

TEST_CASE(
    "those who say hello and nothing more are bounded in number, and those who have opened do not count") {
    constexpr std::uint64_t kMany = 300;
    BareHost from(memory_method(), memory({}));
    BareHost to(memory_method(), memory({{"handshake_timeout", "60 s"}}));
    for (std::uint64_t i = 0; i < kMany; ++i) REQUIRE(link_up(from, to) != nullptr);
    for (std::uint64_t i = 0; i < kMany; ++i) REQUIRE(from.connect(to.descriptor(), to.id()) != nullptr);
    from.poll();
    while (to.poll() > 0) {}
    CHECK(to.query(PLEXUS_QUERY_LINKS) > kMany);
    CHECK(to.query(PLEXUS_QUERY_LINKS) < 2 * kMany);
}

TEST_CASE("who says hello many times and nothing more keeps nobody else out") {
    BareHost many(memory_method(), memory({}));
    BareHost to(memory_method(), memory({{"handshake_timeout", "60 s"}}));
    for (int i = 0; i < 2'000; ++i) REQUIRE(many.connect(to.descriptor(), to.id()) != nullptr);
    many.poll(); // more hellos than may wait
    while (to.poll() > 0) {}
    BareHost other(memory_method(), memory({}));
    CHECK(link_up(other, to) != nullptr);
}

TEST_CASE("members that say hello once each wait for each other, and all get their links") {
    BareHost to(memory_method(), memory({}));
    std::vector<std::unique_ptr<BareHost>> all;
    std::vector<End*> ends;
    for (int i = 0; i < 300; ++i) {
        all.push_back(std::make_unique<BareHost>(memory_method(), memory({{"connect_timeout", "60 s"}})));
        ends.push_back(all.back()->connect(to.descriptor(), to.id()));
        REQUIRE(ends.back() != nullptr);
        all.back()->poll(); // says hello
    }
    while (to.poll() > 0) {} // more than may be strangers at a time
    CHECK(eventually(60s, [&] {
        to.poll();
        for (const auto& host : all) host->poll();
        return std::all_of(ends.begin(), ends.end(), [](const End* end) { return end->is_open(); });
    }));
    for (const End* end : ends) CHECK_FALSE(end->is_lost());
}

TEST_CASE("a message that does not know the link's token changes nothing") {
    Pair pair(memory_method(), memory({}), memory({}));
    for (const auto kind : {message_link::Kind::message, message_link::Kind::bye})
        slip_in(pair.b.descriptor(), {0x1234, 0, kind, 0, 0});
    while (pair.b.poll() > 0) {}
    CHECK(pair.to_a->received() == 0);
    CHECK_FALSE(pair.to_a->is_lost());
    CHECK(pair.a.send(*pair.to_b, message_of(100), 24, 2) == PLEXUS_OK);
    CHECK(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
}

// ---- messages

TEST_CASE("what is queued of large messages is counted until they have gone") {
    for (const char* way : kWays) {
        CAPTURE(way);
        Pair pair(memory_method(), memory({{"large", way}}), memory({{"large", way}}));
        REQUIRE(pair.a.send(*pair.to_b, message_of(50'000), 24, 2) == PLEXUS_POSTED);
        CHECK(pair.a.query(PLEXUS_QUERY_QUEUED_BYTES, pair.to_b) >= 50'000 - 24);
        CHECK(pair.a.query(PLEXUS_QUERY_QUEUED_BYTES) == pair.a.query(PLEXUS_QUERY_QUEUED_BYTES, pair.to_b));
        CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == 1; }));
        CHECK(pair.a.query(PLEXUS_QUERY_QUEUED_BYTES, pair.to_b) == 0);
    }
}

TEST_CASE("large messages that are under way are bounded in number, and room for more is told") {
    for (const char* way : {"fetch", "carry"}) {
        CAPTURE(way);
        const std::map<std::string, std::string> settings = {{"large", way}, {"window", "16000"}};
        Pair pair(memory_method(), memory(settings), memory(settings));
        const auto message = message_of(5'000);
        std::uint64_t sent = 0;
        while (sent < 1'000 && pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_POSTED) ++sent;
        CHECK(sent < 1'000);
        CHECK(pair.a.send(*pair.to_b, message_of(100), 24, 2) == PLEXUS_OK); // a small one may go
        const std::uint64_t before = pair.to_b->writable();
        CHECK(pair.pump(10s, [&] { return pair.to_b->writable() > before; }));
        CHECK(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_POSTED);
        CHECK(pair.pump(10s, [&] { return pair.to_a->received() == sent + 2; }));
    }
}

TEST_CASE("a large message whose fetch finds no room goes on when there is some") {
    BareHost to(memory_method(), memory({{"large", "fetch"}}));
    BareHost first(memory_method(), memory({{"large", "fetch"}}));
    BareHost second(memory_method(), memory({{"large", "fetch"}}));
    End* far[2] = {};
    End* const near[] = {link_up(first, to, &far[0]), link_up(second, to, &far[1])};
    REQUIRE((near[0] != nullptr && near[1] != nullptr));
    const auto message = message_of(500'000); // more fetches than the port has room for
    REQUIRE(first.send(*near[0], message, 24, 2) == PLEXUS_POSTED);
    REQUIRE(second.send(*near[1], message, 24, 2) == PLEXUS_POSTED);
    CHECK(pump({&to}, 10s, [&] { return far[0]->received() == 1 && far[1]->received() == 1; }));
}

TEST_CASE("a turn handles no more than its budget") {
    Pair pair(memory_method(), memory({}), memory({}));
    for (int i = 0; i < 10; ++i) REQUIRE(pair.a.send(*pair.to_b, message_of(100), 24, 2) == PLEXUS_OK);
    for (std::uint64_t before = 0; before < 10; before = pair.to_a->received()) {
        pair.b.poll(1);
        REQUIRE(pair.to_a->received() <= before + 1);
    }
}

// ---- silence

TEST_CASE("a peer that answers when it is asked is not gone, however long nothing is said") {
    const std::map<std::string, std::string> settings = {{"dead_after", "300 ms"}};
    Pair pair(memory_method(), memory(settings), memory({}));
    const auto start = std::chrono::steady_clock::now();
    CHECK(pair.pump(20s, [&] { return std::chrono::steady_clock::now() > start + 1s; }));
    CHECK_FALSE(pair.to_b->is_lost());
}

TEST_CASE("a pause of this process is no silence of its peers") {
    Pair pair(memory_method(), memory({{"dead_after", "200 ms"}}), memory({}));
    for (int i = 0; i < 200; ++i) pair.a.poll();
    std::this_thread::sleep_for(400ms); // the pause
    for (int i = 0; i < 200; ++i) {
        pair.a.poll();
        pair.b.poll();
    }
    CHECK_FALSE(pair.to_b->is_lost());
}

TEST_CASE("what a process had sent before it ended arrives, and then the link is lost") {
    Pair pair(memory_method(), memory({}), memory({}));
    for (int i = 0; i < 20; ++i) REQUIRE(pair.a.send(*pair.to_b, message_of(100), 24, 2) == PLEXUS_OK);
    end_memory_process(pair.a.descriptor());
    CHECK(eventually(10s, [&] {
        pair.b.poll(2); // the end is told first
        return pair.to_a->is_lost();
    }));
    CHECK(pair.to_a->received() == 20);
    CHECK(pair.to_a->lost_status() == PLEXUS_LINK_LOST);
}

// ---- the end

TEST_CASE("a link that is given up hands nothing over any more") {
    Pair pair(memory_method(), memory({}), memory({}));
    REQUIRE(pair.a.send(*pair.to_b, message_of(100), 24, 2) == PLEXUS_OK);
    pair.b.disconnect(*pair.to_a);
    CHECK(pair.pump(10s, [&] { return pair.to_b->is_lost(); }));
    CHECK(pair.to_a->received() == 0);
    CHECK(pair.pump(10s, [&] { return has_no_links(pair.a) && has_no_links(pair.b); }));
}

TEST_CASE("a link that was given up ends after linger although its peer takes nothing") {
    for (const char* way : kWays) {
        CAPTURE(way);
        Pair pair(memory_method(), memory({{"large", way}, {"linger", "50 ms"}, {"window", "2"}}),
                  memory({{"large", way}, {"window", "2"}}));
        REQUIRE(pair.a.send(*pair.to_b, message_of(50'000), 24, 2) == PLEXUS_POSTED);
        pair.a.disconnect(*pair.to_b);
        CHECK(pump({&pair.a}, 20s, [&] { return has_no_links(pair.a); }));
        CHECK(pair.to_b->completed() == 1);
        CHECK(pump({&pair.b}, 10s, [&] { return pair.to_a->is_lost(); })); // also where parts are missing
    }
}

TEST_CASE("the peers of a context that ends learn it at once") {
    Pair pair(memory_method(), memory({}), memory({}));
    pair.b.close();
    pair.b.drain();
    pair.b.destroy();
    CHECK(pump({&pair.a}, 10s, [&] { return pair.to_b->is_lost(); }));
    CHECK(pair.to_b->lost_why().find("closed the connection") != std::string::npos);
}

TEST_CASE("links of members that connect at once come about, also if they are more than may be unproved") {
    BareHost from(memory_method(), memory({}));
    BareHost to(memory_method(), memory({}));
    std::vector<plexus::testing::End*> ends;
    for (int i = 0; i < 600; ++i) ends.push_back(from.connect(to.descriptor(), to.id()));
    CHECK(pump({&from, &to}, 20s, [&] {
        return std::all_of(ends.begin(), ends.end(), [](const auto* end) { return end->is_open(); });
    }));
}

TEST_CASE("hellos that wait for a place are answered no more once nobody waits for an answer") {
    BareHost from(memory_method(), memory({{"connect_timeout", "60 s"}}));
    BareHost to(memory_method(), memory({{"connect_timeout", "300 ms"}, {"handshake_timeout", "600 ms"}}));
    constexpr std::uint64_t kPlaces = 256;
    std::vector<End*> ends;
    for (int i = 0; i < 400; ++i) {
        ends.push_back(from.connect(to.descriptor(), to.id()));
        REQUIRE(ends.back() != nullptr);
    }
    from.poll(); // says its hellos; it confirms nothing from here on
    while (to.poll() > 0) {}
    CHECK(to.query(PLEXUS_QUERY_LINKS) == kPlaces);
    std::uint64_t most = 0;
    CHECK(pump({&to}, 20s, [&] { // the places are free when the hellos that wait are late
        most = std::max(most, to.query(PLEXUS_QUERY_LINKS));
        return has_no_links(to);
    }));
    CHECK(most == kPlaces);
    std::uint64_t sleep_ns = UINT64_MAX;
    CHECK(eventually(20s, [&] {
        to.poll();
        return to.arm(&sleep_ns) == PLEXUS_OK;
    }));
    CHECK(has_no_links(to));
    while (from.poll() > 0) {}
    const auto answered =
        std::count_if(ends.begin(), ends.end(), [](const End* each) { return each->is_opened(); });
    CHECK(static_cast<std::uint64_t>(answered) == kPlaces);
}

TEST_CASE("of hellos that wait for a place a turn takes no more than its budget") {
    BareHost from(memory_method(), memory({{"connect_timeout", "60 s"}}));
    BareHost to(memory_method(), memory({{"connect_timeout", "60 s"}, {"handshake_timeout", "600 ms"}}));
    for (int i = 0; i < 400; ++i) REQUIRE(from.connect(to.descriptor(), to.id()) != nullptr);
    from.poll(); // says its hellos; it confirms nothing from here on
    while (to.poll() > 0) {}
    CHECK(to.query(PLEXUS_QUERY_LINKS) == 256);
    std::uint64_t most = 0;     // links more after one turn
    CHECK(eventually(20s, [&] { // until those that waited have come and gone as well
        const std::uint64_t before = to.query(PLEXUS_QUERY_LINKS);
        to.poll(1);
        const std::uint64_t after = to.query(PLEXUS_QUERY_LINKS);
        if (after > before) most = std::max(most, after - before);
        std::uint64_t sleep_ns = 0;
        return after == 0 && to.arm(&sleep_ns) == PLEXUS_OK;
    }));
    CHECK(most == 1);
}

// ---- sleeping

TEST_CASE("what another thread asks for wakes who sleeps") {
    Pair pair(memory_method(), memory({}), memory({}));
    while (pair.a.poll() > 0) {}
    std::uint64_t sleep_ns = UINT64_MAX;
    REQUIRE(pair.a.arm(&sleep_ns) == PLEXUS_OK);
    pollfd item{pair.a.wait_fd(), POLLIN, 0};
    CHECK(::poll(&item, 1, 0) == 0);
    pair.a.disconnect(*pair.to_b);
    CHECK(::poll(&item, 1, 0) == 1);
}

TEST_CASE("nobody sleeps past the time that a link may take to open") {
    BareHost from(memory_method(), memory({}));
    BareHost to(memory_method(), memory({}));
    REQUIRE(from.connect(to.descriptor(), to.id()) != nullptr);
    while (from.poll() > 0) {}
    std::uint64_t sleep_ns = UINT64_MAX;
    REQUIRE(from.arm(&sleep_ns) == PLEXUS_OK);
    CHECK(sleep_ns <= static_cast<std::uint64_t>(std::chrono::nanoseconds(5s).count())); // connect_timeout
}

} // namespace links_test
