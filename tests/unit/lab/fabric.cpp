// SPDX-License-Identifier: BSD-3-Clause
// The network in motion, by arithmetic: when frames arrive, who has to wait for whom, what
// is lost and what is counted.
#include "support/catch.h"
#include "unit/lab/networks.h"

#include "tools/lab/fabric.h"

#include <map>

namespace fabric_test {

using namespace plexus::testing;
using namespace plexus::tools::lab;
using namespace std::chrono_literals;

namespace {

struct Run {
    explicit Run(const std::string& text)
      : network(network_of(text))
      , routes(network)
      , fabric(network, routes) {}

    void send(Time at, std::uint32_t from, std::uint32_t to, std::uint32_t bytes) {
        fabric.advance(at, outcomes);
        fabric.offer(at, from, to, bytes, next++);
    }
    /// When each frame arrived, in the order of arrival; -1 ns for one that was lost.
    std::vector<Time> arrivals(Time until = 10s) {
        fabric.advance(until, outcomes);
        std::vector<Time> all;
        for (const auto& one : outcomes) all.push_back(one.arrived ? one.due : Time(-1));
        return all;
    }
    std::map<std::uint32_t, int> arrived_at() const {
        std::map<std::uint32_t, int> counts;
        for (const auto& one : outcomes) counts[one.to] += one.arrived ? 1 : 0;
        return counts;
    }

    const Network network;
    const Routes routes;
    Fabric fabric;
    std::vector<Fabric::Outcome> outcomes;
    Fabric::Ticket next = 0;
};

} // namespace

TEST_CASE("a frame arrives when its bits and its delays are over") {
    Run run(kSwitched);
    run.send(0ns, 0, 1, 1000); // 1000 us on either cable, 100 us delay
    CHECK(run.fabric.next_due() == 1000us);
    CHECK(run.arrivals() == std::vector<Time>{2100us});
    CHECK(run.fabric.next_due() == Time::max());
}

TEST_CASE("short frames occupy a wire like padded ones, with what a wire adds") {
    Run run(kTwoWires);
    run.send(0ns, 0, 1, 20);
    // 60 + 24 bytes at 10 Mb/s, and 5 us.
    CHECK(run.arrivals() == std::vector<Time>{67'200ns + 5us});
}

TEST_CASE("frames of one host follow each other at the rate of its cable") {
    Run run(kSwitched);
    for (int i = 0; i < 3; ++i) run.send(0ns, 0, 1, 1000);
    CHECK(run.arrivals() == std::vector<Time>{2100us, 3100us, 4100us});
}

TEST_CASE("a part's rate can be changed: frames that start later travel at the new rate") {
    Run run(kSwitched);
    run.send(0ns, 0, 1, 1000); // occupies the second cable from 1 ms to 2 ms
    CHECK(run.fabric.set_rate(run.network.hosts[0].name, 800'000) == Fabric::RateChange::changed);
    run.send(5ms, 0, 1, 1000);
    run.send(50ms, 1, 2, 1000); // over the cables of others
    CHECK(run.arrivals() == std::vector<Time>{2100us, 5ms + 10ms + 1100us, 52'100us});
    CHECK(run.fabric.set_rate("nothing", 800'000) == Fabric::RateChange::no_such_part);
}

TEST_CASE("a part whose wires have no rate is refused one, and keeps none") {
    Run run(kTwoWires);
    const auto change = run.fabric.set_rate("bridge", 800'000);
    CHECK(change == Fabric::RateChange::no_limit);
    run.send(0ns, 0, 3, 1226);
    CHECK(run.arrivals() == std::vector<Time>{1005us + 50us + 1005us});
}

TEST_CASE("on a switch, pairs do not disturb each other, but senders to one host do") {
    Run pairs(kSwitched);
    pairs.send(0ns, 0, 1, 1000);
    pairs.send(0ns, 1, 2, 1000);
    CHECK(pairs.arrivals() == std::vector<Time>{2100us, 2100us});
    Run crowd(kSwitched);
    crowd.send(0ns, 0, 2, 1000);
    crowd.send(0ns, 1, 2, 1000);
    CHECK(crowd.arrivals() == std::vector<Time>{2100us, 3100us});
}

TEST_CASE("on a shared wire one frame travels at a time, and stations take turns") {
    Run run(kTwoWires);
    const std::uint32_t bytes = 1226; // 1250 with overhead: a millisecond
    for (int i = 0; i < 4; ++i) run.send(0ns, 0, 1, bytes);
    for (int i = 0; i < 4; ++i) run.send(0ns, 1, 0, bytes);
    const auto arrivals = run.arrivals();
    REQUIRE(arrivals.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) CHECK(arrivals[i] == (i + 1) * 1ms + 5us);
    // The first host had a frame sent and the next in line before the other one came; from
    // then on they alternate, until one has nothing left.
    for (std::size_t i = 1; i + 1 < 7; ++i) CHECK(run.outcomes[i].to != run.outcomes[i + 1].to);
    CHECK(run.fabric.counts()[0].busy == 8ms);
    CHECK(run.fabric.counts()[0].bytes == 8 * bytes);
}

TEST_CASE("a bridge keeps its segments apart, and passes on what is for the other") {
    Run run(kTwoWires);
    const std::uint32_t bytes = 1226;
    run.send(0ns, 0, 1, bytes);
    run.send(0ns, 2, 3, bytes); // at the same time, on the other wire
    run.send(2ms, 0, 3, bytes);
    CHECK(run.arrivals() == std::vector<Time>{1005us, 1005us, 2ms + 1005us + 50us + 1005us});
    CHECK(run.fabric.counts()[2].frames == 1); // of the bridge
}

TEST_CASE("a late question changes no time") {
    Run often(kSwitched);
    Run rarely(kSwitched);
    for (int i = 0; i < 3; ++i) often.send(0ns, 0, 1, 1000);
    for (int i = 0; i < 3; ++i) rarely.send(0ns, 0, 1, 1000);
    for (Time t{0}; t < 5ms; t += 10us) often.fabric.advance(t, often.outcomes);
    CHECK(often.arrivals() == rarely.arrivals());
}

TEST_CASE("a queue without room loses frames, and says so before") {
    Run run(kSwitched); // 4 KiB behind the frame that is being sent
    CHECK(run.fabric.has_room(0));
    for (int i = 0; i < 4; ++i) run.send(0ns, 0, 1, 1000);
    CHECK_FALSE(run.fabric.has_room(0)); // not for a frame of full size
    CHECK(run.fabric.has_room(1));
    for (int i = 0; i < 2; ++i) run.send(0ns, 0, 1, 1000);
    const auto arrivals = run.arrivals();
    CHECK(std::count(arrivals.begin(), arrivals.end(), Time(-1)) == 1);
    CHECK(run.arrived_at()[1] == 5);
    CHECK(run.fabric.counts()[run.routes.entry(0).pipe].overflowed == 1);
    CHECK(run.fabric.has_room(0));
}

TEST_CASE("a part that is down loses frames until it is up again") {
    for (const std::string part : {"left", "bridge", "right", "a", "d"}) {
        INFO(part);
        Run run(kTwoWires);
        REQUIRE(run.fabric.set_up(part, false));
        REQUIRE(run.fabric.set_up(part, false)); // twice is once
        run.send(0ns, 0, 3, 100);
        CHECK(run.arrivals(100ms) == std::vector<Time>{Time(-1)});
        REQUIRE(run.fabric.set_up(part, true));
        run.send(200ms, 0, 3, 100);
        run.fabric.advance(1s, run.outcomes);
        REQUIRE(run.outcomes.size() == 2);
        CHECK(run.outcomes[1].arrived);
        std::uint64_t cut = 0;
        for (const PipeCount& count : run.fabric.counts()) cut += count.cut;
        CHECK(cut == 1);
    }
    Run run(kTwoWires);
    CHECK_FALSE(run.fabric.set_up("middle", false));
    REQUIRE(run.fabric.set_up("b", false));
    run.send(0ns, 0, 3, 100); // others on the wire of a host that is down go on
    CHECK(run.arrivals().front() > 0ns);
}

TEST_CASE("frames under way on a part that goes down are lost") {
    Run run(kSwitched);
    run.send(0ns, 0, 1, 1000);
    run.fabric.advance(500us, run.outcomes);
    REQUIRE(run.fabric.set_up("a", false));
    CHECK(run.arrivals() == std::vector<Time>{Time(-1)});
}

TEST_CASE("each ticket comes back exactly once, whatever happens") {
    Run run(kTwoWires);
    std::uint32_t chance = 1;
    for (int i = 0; i < 5000; ++i) {
        chance = chance * 1664525 + 1013904223;
        const std::uint32_t from = chance >> 30;
        const std::uint32_t to = (from + 1 + (chance >> 20) % 3) % 4;
        run.send(i * 300us, from, to, 60 + (chance >> 8) % 1400);
        if (i % 100 == 0) run.fabric.set_up("bridge", i % 200 == 0);
    }
    run.arrivals(100s);
    std::vector<int> seen(5000, 0);
    for (const auto& one : run.outcomes) ++seen[one.ticket];
    CHECK(std::count(seen.begin(), seen.end(), 1) == 5000);
    CHECK(run.fabric.next_due() == Time::max());
}

} // namespace fabric_test
