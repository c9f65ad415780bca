// SPDX-License-Identifier: BSD-3-Clause
// The faults module does what its plan says and nothing else: what is built on it may
// trust it.
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/sleeper.h"
#include "support/stream.h"

#include <algorithm>
#include <set>

namespace plan_test {

using namespace plexus::testing;

namespace {

BareOptions plan(std::map<std::string, std::string> settings) { return {{}, {1, 2, 3}, std::move(settings)}; }

// Sends until the link is lost; how many arrived.
std::uint64_t arrived_before_cut(const char* seed, std::size_t size) {
    Pair pair(method_under_test(), plan({{"drop_link_every", "40"}, {"seed", seed}}));
    Receiver receiver(pair.b, always(size));
    Stream stream(*pair.to_b, always(size), 1'000);
    CHECK(pair.pump(10s, [&] {
        stream.step();
        return pair.to_b->is_lost() && pair.to_a->is_lost();
    }));
    CHECK(pair.to_b->lost_status() == PLEXUS_LINK_LOST);
    CHECK(pair.to_b->lost_why().find("fault plan") != std::string::npos);
    CHECK(pair.to_b->posted() == pair.to_b->completed());
    CHECK(stream.sent() == 40);
    CHECK(receiver.fault() == "");
    return receiver.received();
}

std::string refusal(std::map<std::string, std::string> settings) {
    const auto expected = expect_warning("");
    try {
        BareHost host(method_under_test(), plan(std::move(settings)));
    } catch (const OpenFailed& failed) {
        CHECK(failed.status == PLEXUS_BAD_CONFIG);
        return failed.what();
    }
    return {};
}

} // namespace

TEST_CASE("without a plan everything passes through") {
    Pair pair(method_under_test());
    CHECK((pair.a.ops().caps & PLEXUS_CAP_FRAGILE) != 0);
    CHECK(carry(pair, mixed(500'000), 2'000) == "");
}

TEST_CASE("a link is cut at the message that the plan says, and what arrived is whole and in order") {
    const std::size_t size = GENERATE(std::size_t{100}, std::size_t{50'000}, std::size_t{2'000'000});
    CAPTURE(size);
    const std::uint64_t arrived = arrived_before_cut("1", size);
    CHECK(arrived >= 1);
    CHECK(arrived <= 40);
}

TEST_CASE("the same seed loses the same messages, another seed others") {
    std::set<std::uint64_t> outcomes;
    for (const char* seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
        const std::uint64_t arrived = arrived_before_cut(seed, 64);
        CHECK(arrived == arrived_before_cut(seed, 64));
        CHECK(arrived >= 37); // at most three on their way are lost
        outcomes.insert(arrived);
    }
    CHECK(outcomes.size() > 1);
}

TEST_CASE("after a cut a new link can be made, and is cut in its turn") {
    Pair pair(method_under_test(), plan({{"drop_link_every", "10"}}));
    Receiver receiver(pair.b, always(64));
    End* end = pair.to_b;
    for (int round = 0; round < 5; ++round) {
        REQUIRE(end != nullptr);
        Stream stream(*end, always(64), 100);
        CHECK(pair.pump(10s, [&] {
            stream.step();
            return end->is_lost();
        }));
        end = link_up(pair.a, pair.b);
    }
    CHECK(end != nullptr);
    CHECK(receiver.fault() == "");
}

TEST_CASE("a storm of AGAIN loses nothing") {
    constexpr std::uint64_t kMessages = 3'000;
    Pair pair(method_under_test(), plan({{"again_every", "2"}}));
    const SizeOf size_of = mixed(100'000);
    Receiver receiver(pair.b, size_of);
    Stream stream(*pair.to_b, size_of, kMessages);
    CHECK(pair.pump(30s, [&] {
        stream.step();
        return receiver.received() == kMessages;
    }));
    CHECK(receiver.fault() == "");
    CHECK(stream.again() > kMessages / 2);
}

TEST_CASE("a delayed message comes late, in order, and wakes a sleeper") {
    Pair pair(method_under_test(), {}, plan({{"delay", "20 ms"}}));
    Receiver receiver(pair.b, mixed(200'000));
    Stream stream(*pair.to_b, mixed(200'000), 50);
    const Sleeper at_b(pair.b);
    REQUIRE(eventually(5s, [&] { return at_b.asleep(); }));
    const auto start = std::chrono::steady_clock::now();
    CHECK(pump({&pair.a}, 10s, [&] {
        stream.step();
        return receiver.received() == 50;
    }));
    CHECK(std::chrono::steady_clock::now() - start >= 20ms);
    CHECK(receiver.fault() == "");
}

TEST_CASE("a withheld message comes after so many polls") {
    Pair pair(method_under_test(), {}, plan({{"withhold", "5"}}));
    REQUIRE(pair.a.push(*pair.to_b, std::make_shared<Bytes>(100)));
    int polls = 0;
    CHECK(pair.pump(10s, [&] {
        ++polls;
        return pair.to_a->received() == 1;
    }));
    CHECK(polls > 5);
}

TEST_CASE("every n-th connection is refused") {
    BareHost a(method_under_test(), plan({{"refuse_connect", "3"}}));
    BareHost b(method_under_test());
    int refused = 0;
    for (int i = 1; i <= 9; ++i) {
        End* end = a.connect(b.descriptor(), b.id());
        REQUIRE(end != nullptr);
        CHECK(pump({&a, &b}, 10s, [&] { return end->is_opened() || end->is_lost(); }));
        CHECK(end->is_lost() == (i % 3 == 0));
        refused += end->is_lost() ? 1 : 0;
    }
    CHECK(refused == 3);
}

TEST_CASE("what faults owes wakes a sleeper") {
    Pair pair(method_under_test(), plan({{"drop_link_every", "1"}}));
    const Sleeper at_a(pair.a);
    REQUIRE(eventually(5s, [&] { return at_a.asleep(); }));
    REQUIRE(pair.a.push(*pair.to_b, std::make_shared<Bytes>(10)));
    CHECK(pump({&pair.b}, 3s, [&] { return pair.to_b->is_lost(); }));
}

TEST_CASE("a link that the inner method has lost is lost once, and finds no more room") {
    BareHost a(method_under_test(), plan({{"drop_link_every", "4"}, {"again_every", "2"}}));
    auto b = std::make_unique<BareHost>(method_under_test());
    a.hooks.lost = [](End&) {}; // a host may give the link up later
    End* const end = link_up(a, *b);
    REQUIRE(end != nullptr);
    for (int sent = 0;
         sent < 3;) // the last of them may be swallowed: the plan cuts the link some time after it
        if (a.send(*end, std::make_shared<Bytes>(10), 10, 1) == PLEXUS_OK) ++sent;
    b.reset();
    CHECK(pump({&a}, 10s, [&] { return end->is_lost(); }));
    for (int i = 0; i < 20; ++i) (void)a.send(*end, std::make_shared<Bytes>(10), 10, 1);
    CHECK_FALSE(
        pump({&a}, 150ms, [] { return false; })); // a second `lost`, or a `writable`, would be a violation
    a.disconnect(*end);
}

TEST_CASE("a plan that makes no sense is refused in words") {
    CHECK(refusal({{"over", ""}}) != "");
    CHECK(refusal({{"over", "faults"}}) != "");
    CHECK(refusal({{"over", "pigeons"}}).find("pigeons") != std::string::npos);
    CHECK(refusal({{"again_every", "1"}}).find("again_every") != std::string::npos);
    CHECK(refusal({{"delay", "soon"}}).find("delay") != std::string::npos);
    CHECK(refusal({{"seed", "x"}}).find("seed") != std::string::npos);
}

TEST_CASE("a descriptor over another method does not apply") {
    BareHost a(method_under_test());
    const Bytes own = a.descriptor();
    Bytes other(own.size() + 1, std::byte{0});
    other[0] = std::byte{'p'};
    std::copy(own.begin(), own.end() - 1, other.begin() + 2);
    std::string why;
    CHECK(a.applies(own) == PLEXUS_OK);
    CHECK(a.applies(other, &why) == PLEXUS_NO_METHOD);
    CHECK(why == "runs over another method there");
}

} // namespace plan_test
