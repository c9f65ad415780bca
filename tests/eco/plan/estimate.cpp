// SPDX-License-Identifier: BSD-3-Clause
// The estimate on networks where it can be reckoned by hand.
#include "eco/topology/networks.h"
#include "support/catch.h"

#include "plan/builder.h"
#include "plan/estimate.h"
#include "plan/port.h"
#include "plexus/eco/network.h"
#include "plexus/error.h"

#include <cmath>

namespace estimate_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

/// `latency_us` between all, and a microsecond for each hundred bytes.
Network flat(std::size_t hosts, double latency_us, bool one_wire = false) {
    std::vector<std::string> names;
    std::vector<std::size_t> host_of;
    for (std::size_t host = 0; host < hosts; ++host) {
        names.push_back("h" + std::to_string(host));
        host_of.push_back(host);
    }
    Map map(names, {}, {100, 1100}, "");
    for (std::size_t a = 0; a < hosts; ++a)
        for (std::size_t b = 0; b < a; ++b) {
            const double small = latency_us + 1, large = latency_us + 11;
            map.set_both(0, a, b, {small, small, small, small, small, 1, Cost::kNoMethod});
            map.set_both(1, a, b, {large, large, large, large, large, 1, Cost::kNoMethod});
        }
    if (one_wire) map.set_shared_wires({host_of});
    return Network(map, host_of);
}

double estimate(Operation operation, Pattern pattern, const Network& network, std::uint64_t bytes) {
    return estimate_us(plan({operation, network.size(), 0, bytes, 1, true}, {pattern}), network);
}

} // namespace

TEST_CASE("one message takes its latency and its bytes") {
    CHECK(estimate(Operation::broadcast, Pattern::star, flat(2, 20), 0) == Approx(20));
    CHECK(estimate(Operation::broadcast, Pattern::star, flat(2, 20), 5000) == Approx(70));
    CHECK(estimate(Operation::barrier, Pattern::star, flat(1, 20), 0) == 0);
}

TEST_CASE("a sender is busy with half the latency and its bytes, then sends on") {
    // The fourth message leaves after three times 10 + 50 us and takes 70.
    CHECK(estimate(Operation::broadcast, Pattern::star, flat(5, 20), 5000) == Approx(3 * 60 + 70));
}

TEST_CASE("large messages to several receivers leave side by side, small ones in turn") {
    const auto first_taken = [](const Plan& plan, const Network& network) {
        double first = 1e9;
        for (const Flight& each : timeline(plan, network)) first = std::min(first, each.taken_us);
        return first;
    };
    // 14,480 B leave at once, in 144.8 us: four times. The other 100,000 B of each share the port, for 4,000
    // us.
    const PlanRequest request{Operation::broadcast, 5, 0, 114'480, 1, true};
    const Plan star = plan(request, {Pattern::star});
    CHECK(first_taken(star, flat(5, 20)) == Approx(4 * 144.8 + 4000 + 20));
    // The last one is not held up: three messages of 10 us and their bytes go before it.
    CHECK(estimate_us(star, flat(5, 20)) == Approx(3 * (10 + 1144.8) + 20 + 1144.8));
    const PlanRequest small{Operation::broadcast, 5, 0, 14'480, 1, true};
    CHECK(first_taken(plan(small, {Pattern::star}), flat(5, 20)) == Approx(20 + 144.8));
    // Of a binomial tree over eight, the root's three messages end together. The first receiver sends two of
    // its own then, and the first of these has one message to send.
    const Plan binomial = plan({Operation::broadcast, 8, 0, 114'480, 1, true}, {Pattern::binomial});
    CHECK(estimate_us(binomial, flat(8, 20)) ==
          Approx(3 * (144.8 + 1000) + 2 * (144.8 + 1000) + 1144.8 + 3 * 20));
    // Segments to one receiver follow each other.
    const Plan chain = plan({Operation::broadcast, 2, 0, 1'000'000, 1, true}, {Pattern::chain, 2, 100'000});
    CHECK(first_taken(chain, flat(2, 20)) == Approx(20 + 1000));
    CHECK(estimate_us(chain, flat(2, 20)) == Approx(9 * (10 + 1000) + 20 + 1000));
}

TEST_CASE("connections share a port evenly, each with its messages in order, and one that is done leaves its "
          "share") {
    Port port(4);
    for (int round = 0; round < 2; ++round) { // it is empty afterwards
        port.add(1, 30, 10);
        port.add(2, 50, 10);
        port.add(1, 10, 10);
        port.add(3, 5, 10);
        // 10, 10 and 5 at once. Then 20 of the first two each until 65, 10 each until 85, and 10 of the
        // second.
        CHECK(port.left_us() == std::vector<double>{65, 95, 85, 25});
    }
}

TEST_CASE("the port that large messages share delays their receivers once, for any number of members") {
    constexpr double kLatency = 20;
    constexpr double kBytes = 1144.8;               // 114,480 B
    constexpr double kBusy = kLatency / 2 + kBytes; // of the sender, with each message
    for (const Rank members : {2, 3, 5, 9, 33, 128}) {
        INFO(members << " members");
        const Network network = flat(members, kLatency);
        const double others = members - 1;
        const double last = (others - 1) * kBusy + kLatency + kBytes;
        const Plan star = plan({Operation::broadcast, members, 0, 114'480, 1, true}, {Pattern::star});
        const std::vector<Flight> flights = timeline(star, network);
        for (std::size_t at = 0; at < flights.size(); ++at) {
            const double alone = static_cast<double>(at) * kBusy + kLatency + kBytes;
            CHECK(flights[at].taken_us == Approx(std::max(alone, others * kBytes + kLatency)));
        }
        CHECK(estimate_us(star, network) == Approx(last));
        // Everyone sends all its messages at once, in an order in which receivers are busy with one at a
        // time: what shares a port where it leaves, and follows others where it arrives, waits for one of
        // both.
        Builder all({Operation::all_to_all, members, 0, 114'480, 1, true}, 1);
        std::vector<std::uint32_t> sent;
        for (Rank distance = 1; distance < members; ++distance)
            for (Rank from = 0; from < members; ++from) {
                const Rank to = (from + distance) % members;
                sent.push_back(all.post(from, to, {{from * members + to, 1}}));
            }
        for (const std::uint32_t each : sent) all.take(each);
        const Plan exchange = all.finish();
        CHECK(prove(exchange));
        CHECK(estimate_us(exchange, network) == Approx(last));
    }
}

TEST_CASE("bytes from many arrive at one after the other") {
    // Four at once: the first after 70, each other 50 later.
    CHECK(estimate(Operation::gather, Pattern::star, flat(5, 20), 5000) == Approx(70 + 3 * 50));
}

TEST_CASE("partners send and take at the same time") {
    CHECK(estimate(Operation::barrier, Pattern::butterfly, flat(8, 20), 0) == Approx(3 * 20));
    CHECK(estimate(Operation::barrier, Pattern::bruck, flat(8, 20), 0) == Approx(3 * 20));
}

TEST_CASE("on a shared wire what two send at once goes one after the other") {
    // Both send 5000 bytes at 0: 70 us; the second on a shared wire begins at 50.
    const PlanRequest request{Operation::all_gather, 2, 0, 5000, 1, true};
    CHECK(estimate_us(plan(request, {Pattern::pairwise}), flat(2, 20)) == Approx(70));
    CHECK(estimate_us(plan(request, {Pattern::pairwise}), flat(2, 20, true)) == Approx(120));
    // By whom it is sent makes no difference there: seven times 5000 bytes.
    const PlanRequest broadcast{Operation::broadcast, 8, 0, 5000, 1, true};
    CHECK(estimate_us(plan(broadcast, {Pattern::binomial}), flat(8, 20, true)) >= 7 * 50);
    CHECK(estimate_us(plan(broadcast, {Pattern::binomial}), flat(8, 20)) <= 3 * 70);
}

TEST_CASE("an idle connection over a long way sends ten segments, and twice as many each round trip") {
    // 50 ms, and 0.01 us for a byte: 14480, 28960 and 57920 bytes leave a round trip apart.
    const Network network = flat(2, 50'000);
    CHECK(estimate(Operation::broadcast, Pattern::star, network, 14'000) == Approx(50'140));
    CHECK(estimate(Operation::broadcast, Pattern::star, network, 40'000) == Approx(150'000).epsilon(0.01));
    CHECK(estimate(Operation::broadcast, Pattern::star, network, 100'000) == Approx(250'000).epsilon(0.01));
}

TEST_CASE("an open connection sends what the way carries, and what is expected is half of both") {
    const Network network = flat(2, 50'000);
    const Plan star = plan({Operation::broadcast, 2, 0, 100'000, 1, true}, {Pattern::star});
    CHECK(estimate_us(star, network, Connections::open) == Approx(51'000));
    const double idle = estimate_us(star, network, Connections::idle);
    CHECK(idle == estimate_us(star, network));
    const Ways ways(network);
    CHECK(ways.are_long);
    CHECK(expected_us(star, ways) == Approx((51'000 + idle) / 2));
    // A limit that is met is infinity, and only then.
    CHECK(std::isinf(expected_us(star, ways, (51'000 + idle) / 2 - 1)));
    CHECK(expected_us(star, ways, (51'000 + idle) / 2 + 1) == Approx((51'000 + idle) / 2));
    CHECK(std::isinf(expected_us(star, ways, 50'000)));
    // Over short ways there is no difference: 14480 bytes take 145 us, and a round trip 140.
    const Network near = flat(2, 70);
    const Ways short_ways(near);
    CHECK_FALSE(short_ways.are_long);
    CHECK(expected_us(star, short_ways) == Approx(estimate_us(star, near)));
    CHECK(Ways(flat(2, 75)).are_long);
}

TEST_CASE("segments in a chain overlap") {
    const Network network = flat(6, 20);
    const PlanRequest request{Operation::broadcast, 6, 0, 100'000, 1, true};
    CHECK(estimate_us(plan(request, {Pattern::chain, 2, 10'000}), network) <
          0.5 * estimate_us(plan(request, {Pattern::chain, 2, 100'000}), network));
}

TEST_CASE("a plan of another size, or one that does not end, is refused") {
    CHECK_THROWS_AS(estimate(Operation::barrier, Pattern::star, flat(2, 1), 0) +
                        estimate_us(plan({Operation::barrier, 3, 0, 0, 1, true}, {}), flat(2, 1)),
                    plexus::Error);
    Plan stuck = plan({Operation::barrier, 2, 0, 0, 1, true}, {Pattern::pairwise});
    for (auto& steps : stuck.steps) std::swap(steps[0], steps[1]);
    CHECK_THROWS_AS(estimate_us(stuck, flat(2, 1)), plexus::Error);
}

TEST_CASE("the timeline of a plan ends when the estimate says, and no message is taken before it is sent") {
    const Map map = [] {
        Map made({"a", "b", "c", "d", "e", "f"}, {}, {0, 10000}, "");
        for (std::size_t a = 0; a < 6; ++a)
            for (std::size_t b = 0; b < a; ++b) {
                const double base = a / 3 == b / 3 ? 50 : 700;
                for (const std::size_t size : {0u, 1u}) {
                    const double us = base * (1 + 3.0 * static_cast<double>(size));
                    made.set_both(size, a, b, {us, us, us, us, us, 1, Cost::kNoMethod});
                }
            }
        return made;
    }();
    const Network network(map, {0, 1, 2, 3, 4, 5});
    for (const Operation operation : kOperations) {
        const Plan plan = plan_eco({operation, 6, 0, 4096, 1, true}, network);
        const auto flights = timeline(plan, network);
        REQUIRE(flights.size() == plan.messages.size());
        double last = 0;
        for (std::size_t at = 0; at < flights.size(); ++at) {
            const Message& message = plan.messages[at];
            CHECK(flights[at].sent_us <= flights[at].free_us);
            CHECK(flights[at].taken_us >= flights[at].sent_us + network.latency_us(message.from, message.to));
            last = std::max({last, flights[at].free_us, flights[at].taken_us});
        }
        CHECK(last == Approx(estimate_us(plan, network)));
    }
    CHECK_THROWS_AS(timeline(plan({}, {}), network), plexus::Error);
}

} // namespace estimate_test
