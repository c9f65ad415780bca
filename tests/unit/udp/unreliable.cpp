// SPDX-License-Identifier: BSD-3-Clause
// What may happen to requests that are marked: lost, reordered, out of date; and what may not: come twice.
#include "contexts.h"

#include <algorithm>
#include <random>
#include <set>

namespace unreliable_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::udp;

namespace {

/// Two contexts whose datagrams the relay passes on.
struct Pair {
    explicit Pair(std::map<std::string, std::string> more = {})
      : far("tcp, udp", more)
      , near(options("tcp, udp", more))
      , relay(port())
      , pointer(through(relay, handed(near, far))) {}
    std::uint16_t port() const {
        const DescriptorTable table = far.bound.pointer().table();
        return port_in(table[table.find("udp").value()].bytes);
    }
    /// Sends readings 0 to `many`, not faster than the relay reads, and at a sensor's pace for who is behind
    /// it.
    void send_all(const UnreliablePointer<Sensor>& marked, std::uint64_t many) const {
        const std::size_t before = relay.seen(true).size();
        for (std::uint64_t i = 0; i < many; ++i) {
            marked.send(reading, i);
            std::this_thread::sleep_for(1ms);
            if (i % 20 == 19) REQUIRE(eventually(10s, [&] { return relay.seen(true).size() > before + i; }));
        }
    }
    Side far;
    Context near;
    Relay relay;
    GlobalPointer<Sensor> pointer;
};

} // namespace

TEST_CASE("on a way that loses a third nothing comes twice, and the handshake succeeds") {
    Pair pair;
    pair.relay.set([random = std::mt19937(7)](const Datagram& one, bool) mutable {
        if (random() % 3 == 0) return std::vector<Datagram>{};
        return std::vector<Datagram>{one};
    });
    const auto marked = pair.pointer.with(unreliable);
    until_by_udp(pair.far, marked);
    const std::size_t before = pair.far.record.count();
    constexpr std::uint64_t kMany = 600;
    pair.send_all(marked, kMany);
    until_by_udp(pair.far, marked); // what comes after them tells that no more will
    std::multiset<std::uint64_t> came;
    for (const std::uint64_t value : pair.far.record.all())
        if (value < kMany) came.insert(value);
    for (std::uint64_t i = 0; i < kMany; ++i)
        if (came.count(i) > 1) FAIL("twice: " << i);
    CHECK(came.size() > kMany / 3);
    CHECK(came.size() < kMany);
    CHECK(before > 0);
}

TEST_CASE("each datagram sent twice, and later once more, is taken once") {
    Pair pair;
    pair.relay.set([](const Datagram& one, bool) { return std::vector<Datagram>{one, one}; });
    const auto marked = pair.pointer.with(unreliable);
    until_by_udp(pair.far, marked);
    constexpr std::uint64_t kMany = 200;
    pair.send_all(marked, kMany);
    CHECK(eventually(10s, [&] {
        const auto all = pair.far.record.all();
        return std::count_if(all.begin(), all.end(), [](auto value) { return value < kMany; }) >= 150;
    }));
    auto recorded = pair.relay.seen(true);
    recorded.resize(std::min<std::size_t>(recorded.size(), 400));
    for (const Datagram& old : recorded) {
        const std::uint64_t before = traffic_of(pair.far.context, "udp").refusals;
        pair.relay.inject(old);
        if (old[0] == 4)
            REQUIRE(eventually(10s, [&] { return traffic_of(pair.far.context, "udp").refusals > before; }));
    }
    until_by_udp(pair.far, marked, 2'000'000);
    const auto all = pair.far.record.all();
    std::set<std::uint64_t> once(all.begin(), all.end());
    CHECK(once.size() == all.size());
    CHECK(traffic_of(pair.far.context, "udp").refusals >= kMany);
}

TEST_CASE("where the newest wins an older one is dropped, per request and object, whichever way it comes") {
    constexpr std::uint64_t kGroup = 8;
    std::vector<Datagram> group;
    bool reverse = false;
    Pair pair;
    const auto rule = [&](const Datagram& one, bool there) { // in the relay's lock
        if (!there || !reverse || one[0] != 4) return std::vector<Datagram>{one};
        group.push_back(one);
        if (group.size() < kGroup) return std::vector<Datagram>{};
        std::reverse(group.begin(), group.end());
        return std::exchange(group, {});
    };
    const bool wins = GENERATE(true, false);
    CAPTURE(wins);
    const auto marked = pair.pointer.with(wins ? newest_wins : unreliable);
    until_by_udp(pair.far, marked);
    reverse = true; // the relay's thread sees it with set()
    pair.relay.set(rule);
    pair.send_all(marked, 20 * kGroup);
    CHECK(eventually(10s, [&] { // groups go on only when they are full
        marked.send(reading, 1'000'000);
        const auto all = pair.far.record.all();
        return std::count(all.begin(), all.end(), 1'000'000U) > 0 && all.back() == 1'000'000;
    }));
    std::vector<std::uint64_t> came;
    for (const std::uint64_t value : pair.far.record.all())
        if (value < 20 * kGroup) came.push_back(value);
    CHECK(std::is_sorted(came.begin(), came.end()) == wins);
    CHECK(came.size() >= 15);
    if (wins) CHECK(traffic_of(pair.far.context, "udp").dropped >= 50);
}

TEST_CASE("a way that goes silent is given up, and requests go another way until it is back") {
    Pair pair({{"method.udp.keep_alive", "50 ms"}, {"method.udp.silence", "300 ms"}});
    const auto marked = pair.pointer.with(unreliable);
    until_by_udp(pair.far, marked);
    pair.relay.set([](const Datagram&, bool) { return std::vector<Datagram>{}; });
    (void)pair.pointer.call(total).get(); // behind all that went by tcp while udp was not there
    const std::uint64_t by_tcp = pair.far.record.count_by("tcp");
    CHECK(eventually(10s, [&] {
        marked.send(reading, 5);
        return pair.far.record.count_by("tcp") > by_tcp;
    }));
    CHECK(traffic_of(pair.near, "udp").links == 0);
    pair.relay.set(nullptr);
    until_by_udp(pair.far, marked);
}

TEST_CASE("a connection without messages ends, and the next request makes another") {
    Pair pair({{"method.udp.keep_alive", "20 ms"}, {"method.udp.idle", "200 ms"}});
    const auto marked = pair.pointer.with(unreliable);
    until_by_udp(pair.far, marked);
    CHECK(eventually(10s, [&] {
        return traffic_of(pair.near, "udp").links == 0 && traffic_of(pair.far.context, "udp").links == 0;
    }));
    until_by_udp(pair.far, marked);
}

TEST_CASE("a receiver that does not read loses requests, and its sender neither waits nor grows") {
    constexpr Request<void(Sensor&)> hold{"udp.hold"};
    std::atomic<bool> held{true};
    std::atomic<bool> holds{false};
    Side far("tcp, udp", {{"method.udp.rcvbuf", "16 KiB"}});
    Context near(options("tcp, udp"));
    const auto marked = handed(near, far).with(unreliable);
    until_by_udp(far, marked);
    far.context.on(hold, [&](Sensor&) {
        holds = true;
        eventually(60s, [&] { return !held.load(); });
    });
    marked.pointer().send(hold);
    REQUIRE(eventually(10s, [&] { return holds.load(); }));
    constexpr std::uint64_t kMany = 20'000;
    for (std::uint64_t i = 0; i < kMany; ++i) marked.send(reading, i);
    CHECK(traffic_of(near, "tcp").fallbacks < 10'000);
    held = false;
    until_by_udp(far, marked);
    CHECK(far.record.count() < kMany / 2);
    CHECK(traffic_of(far.context, "udp").dropped > kMany / 4); // the kernel's count of what found no room
}

TEST_CASE("a marked request that finds no room before its deadline is dropped and counted, and is no error") {
    constexpr Request<void(Sensor&)> block{"udp.block"};
    std::atomic<bool> blocked{true};
    std::atomic<int> errors{0};
    Side far("tcp");
    Context near(options("tcp", {{"limits.handler_queue", "1 MiB"}}));
    near.on_error([&](const Error&) { ++errors; });
    far.context.on(block, [&](Sensor&) { eventually(60s, [&] { return !blocked.load(); }); });
    const auto pointer = handed(near, far);
    pointer.send(block);
    const auto marked = pointer.with(deadline(50ms)).with(unreliable);
    const std::vector<char> load(100'000);
    std::size_t sent = 0;
    CHECK(eventually(30s, [&] {
        marked.send(picture, load);
        ++sent;
        return traffic_of(near, "tcp").dropped > 0;
    }));
    CHECK(marked.try_send(picture, load) == Status::ok);
    ++sent;
    blocked = false;
    const std::size_t left = sent - traffic_of(near, "tcp").dropped;
    CHECK(eventually(30s, [&] {
        const std::lock_guard hold(far.record.mutex);
        return far.record.pictures.size() == left;
    }));
    CHECK(pointer.call(total).get() == 0);
    CHECK(errors.load() == 0);
}

} // namespace unreliable_test
