// SPDX-License-Identifier: BSD-3-Clause
// The engine over a port in memory: what it promises of every port, whatever that can do.
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/stream.h"
#include "unit/message_link/memory_port.h"

namespace engine_test {

using namespace plexus::testing;
using Settings = std::map<std::string, std::string>;

namespace {

/// All that ports differ in.
std::vector<Settings> ways() {
    return {{{"large", "parts"}},
            {{"large", "fetch"}},
            {{"large", "carry"}},
            {{"large", "carry"}, {"order", "changed"}},
            {{"large", "parts"}, {"room", "3"}, {"window", "2"}},
            {{"large", "fetch"}, {"room", "2"}, {"window", "5"}},
            {{"large", "carry"}, {"order", "changed"}, {"room", "4"}, {"window", "3"}}};
}

std::string text_of(const Settings& settings) {
    std::string out;
    for (const auto& [key, value] : settings) out += key + "=" + value + " ";
    return out;
}

} // namespace

TEST_CASE("messages of all sizes arrive once each, in order, unchanged, over every kind of port") {
    for (const Settings& way : ways()) {
        CAPTURE(text_of(way));
        Pair pair(memory_method(), memory(way), memory(way));
        CHECK(carry(pair, mixed(300'000), 400) == "");
    }
}

TEST_CASE("a link that is given up still sends what it had accepted") {
    for (const Settings& way : ways()) {
        CAPTURE(text_of(way));
        Pair pair(memory_method(), memory(way), memory(way));
        std::uint64_t accepted = 0;
        const auto message = std::make_shared<const Bytes>(content(1, 1, 50'000));
        CHECK(pair.pump(10s, [&] {
            const std::int32_t status = pair.a.send(*pair.to_b, message, 24, 3);
            if (status != PLEXUS_AGAIN) ++accepted;
            return accepted == 5;
        }));
        pair.a.disconnect(*pair.to_b);
        CHECK(pair.pump(10s, [&] { return pair.to_a->received() == accepted && pair.to_a->is_lost(); }));
        CHECK(pair.to_b->completed() == pair.to_b->posted());
    }
}

TEST_CASE("a sender that its peer takes nothing from stops at the window, and goes on when it does") {
    Pair pair(memory_method(), memory({{"window", "8"}}), memory({{"window", "8"}}));
    const auto message = std::make_shared<const Bytes>(content(1, 1, 100));
    std::uint64_t sent = 0;
    for (int i = 0; i < 100; ++i) {
        if (pair.a.send(*pair.to_b, message, 24, 1) == PLEXUS_OK) ++sent;
        pair.a.poll();
    }
    CHECK(sent == 8);
    const std::uint64_t before = pair.to_b->writable();
    CHECK(pair.pump(10s, [&] { return pair.to_b->writable() > before; }));
    CHECK(pair.a.send(*pair.to_b, message, 24, 1) == PLEXUS_OK);
    CHECK(pair.pump(10s, [&] { return pair.to_a->received() == 9; }));
}

TEST_CASE("a peer that sends more than it was told it may loses the link, whatever waits") {
    for (Settings way : ways()) {
        way["window"] = "4";
        CAPTURE(text_of(way));
        Settings greedy = way;
        greedy["copies"] = "64";
        Pair pair(memory_method(), memory(greedy), memory(way));
        const auto message = std::make_shared<const Bytes>(content(1, 1, 200'000));
        CHECK(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_POSTED);
        CHECK(pair.pump(10s, [&] { return pair.to_a->is_lost() && pair.to_b->is_lost(); }));
        CHECK(pair.to_a->lost_why().find("more than it was allowed") != std::string::npos);
    }
}

TEST_CASE("large messages that wait behind another one and are refused take no stack") {
    constexpr std::size_t kCopies = 16'000; // as many as a window has room for
    const Settings way = {{"large", "fetch"}, {"window", "16000"}};
    Settings greedy = way;
    greedy["copies"] = std::to_string(kCopies);
    Pair pair(memory_method(), memory(greedy), memory(way));
    std::size_t asked = 0;
    pair.b.hooks.place = [&](End&, std::size_t) { return ++asked == 1 ? PLEXUS_OK : PLEXUS_TOO_LARGE; };
    const auto message = std::make_shared<const Bytes>(80'000'000); // all the others come while it is fetched
    CHECK(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_POSTED);
    CHECK(pump({&pair.b}, 60s, [&] { return asked == kCopies; }));
    CHECK(pair.to_a->received() == 1);
    CHECK_FALSE(pair.to_a->is_lost());
}

TEST_CASE("a peer without the job's key gets no answer, and the log says so once") {
    const auto expected = expect_warning("stranger");
    BareOptions other = memory({{"connect_timeout", "100 ms"}});
    other.key = {9, 9, 9};
    BareHost stranger(memory_method(), other);
    BareHost host(memory_method(), memory({}));
    for (int i = 0; i < 2; ++i) {
        End* const end = stranger.connect(host.descriptor(), host.id());
        REQUIRE(end != nullptr);
        CHECK(pump({&stranger, &host}, 10s, [&] { return end->is_lost(); }));
        CHECK(end->lost_why().find("connect_timeout") != std::string::npos);
    }
    CHECK(host.incoming_count() == 0);
    const auto lines = host.log_lines();
    CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
              return line.find("a stranger was turned away") != std::string::npos;
          }) == 1);
}

TEST_CASE("a context that was not meant says who it is") {
    BareHost from(memory_method(), memory({}));
    BareHost to(memory_method(), memory({}));
    End* const end = from.connect(to.descriptor(), random_id());
    REQUIRE(end != nullptr);
    CHECK(pump({&from, &to}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_WRONG_PEER);
}

TEST_CASE("two sides whose parameter eager differs say so") {
    BareHost from(memory_method(), memory({{"eager", "8 KiB"}}));
    BareHost to(memory_method(), memory({{"eager", "4 KiB"}}));
    End* const end = from.connect(to.descriptor(), to.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&from, &to}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_why().find("eager") != std::string::npos);
    CHECK(to.incoming_count() == 0);
}

TEST_CASE("a port that fails for a peer loses the link, and ends what was posted before") {
    for (const Settings& way : ways()) {
        CAPTURE(text_of(way));
        Pair pair(memory_method(), memory(way), memory(way));
        const auto message = std::make_shared<const Bytes>(content(1, 1, 200'000));
        CHECK(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_POSTED);
        break_memory_port(pair.b.descriptor());
        CHECK(eventually(10s, [&] {
            (void)pair.a.send(*pair.to_b, message, 24, 2);
            pair.a.poll();
            return pair.to_b->is_lost();
        }));
        CHECK(pair.to_b->lost_status() == PLEXUS_LINK_LOST);
        CHECK(pair.to_b->completed() == pair.to_b->posted());
    }
}

TEST_CASE("a peer that is silent for longer than dead_after is gone") {
    Pair pair(memory_method(), memory({{"dead_after", "200 ms"}}), memory({}));
    CHECK(pump({&pair.a}, 60s, [&] { return pair.to_b->is_lost(); }));
    CHECK(pair.to_b->lost_why().find("dead_after") != std::string::npos);
}

TEST_CASE("a module ends while links are being made, are open, and are ending") {
    for (Settings way : ways()) {
        way["linger"] = "20 ms"; // the other side does not poll meanwhile
        CAPTURE(text_of(way));
        for (int polls = 0; polls < 12; ++polls) {
            BareHost host(memory_method(), memory(way));
            End* early = nullptr;
            {
                BareHost guest(memory_method(), memory(way));
                early = host.connect(guest.descriptor(), guest.id());
                REQUIRE(early != nullptr);
                End* const back = guest.connect(host.descriptor(), host.id());
                REQUIRE(back != nullptr);
                for (int i = 0; i < polls; ++i) {
                    host.poll();
                    if (i % 2 == 0) guest.poll();
                    if (i == 8) guest.disconnect(*back);
                }
                (void)guest.send(*back, std::make_shared<const Bytes>(content(1, 1, 70'000)), 24, 2);
            }
            const bool noticed = eventually(10s, [&] {
                host.poll();
                if (early->is_open())
                    (void)host.send(*early, std::make_shared<const Bytes>(content(1, 1, 70)), 24, 1);
                return early->is_lost() || !early->is_opened();
            });
            CHECK(noticed);
        }
    }
}

} // namespace engine_test
