// SPDX-License-Identifier: BSD-3-Clause
// Who goes by udp: requests that are marked, and no others; what goes another way all the same.
#include "contexts.h"
#include "support/process.h"

#include <algorithm>
#include <thread>

namespace contexts_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::udp;

TEST_CASE("marked requests go by udp, once it has reached the peer, and calls never") {
    Side far;
    Context near(options("udp, tcp")); // the order of the list does not matter
    const auto pointer = handed(near, far);
    const auto marked = pointer.with(unreliable);
    until_by_udp(far, marked);
    for (std::uint64_t i = 0; i < 100; ++i) marked.send(reading, i);
    const std::uint64_t by_udp = traffic_of(near, "udp").messages_sent;
    CHECK(by_udp > 100);
    CHECK(eventually(10s, [&] { return far.record.count_by("udp") == by_udp; }));
    (void)pointer.call(total).get(); // behind all that went by tcp while udp was not there
    const std::uint64_t by_tcp = far.record.count_by("tcp");
    for (std::uint64_t i = 0; i < 100; ++i) pointer.send(reading, i);
    CHECK(pointer.call(total).get() == by_tcp + by_udp + 100);
    CHECK(far.record.count_by("tcp") == by_tcp + 100);
    CHECK(pointer.method() == "tcp");
    CHECK(traffic_of(near, "udp").messages_sent == by_udp);
    CHECK(traffic_of(far.context, "udp").messages_received == by_udp);
    CHECK(traffic_of(near, "udp").links == 1);
}

TEST_CASE("selection passes over udp and says why, and so does a pin to it") {
    Side far;
    Context near(options("udp, tcp"));
    const auto pointer = handed(near, far);
    CHECK(pointer.explain().find("udp: only for requests that are marked plexus::unreliable") !=
          std::string::npos);
    auto pinned = pointer;
    CHECK_THROWS_WITH(pinned.use("udp"), Catch::Contains("only for requests that are marked"));
    auto strict = pointer;
    strict.fallback(Fallback::forbid); // udp before tcp is no fallback of it
    strict.send(reading, 1);
    CHECK(strict.call(total).get() == 1);
}

TEST_CASE("without udp on both sides marked requests go by another method, and are counted there") {
    const bool here = GENERATE(true, false);
    Side far(here ? "tcp" : "tcp, udp");
    Context near(options(here ? "tcp, udp" : "tcp"));
    const auto pointer = handed(near, far);
    const auto marked = pointer.with(unreliable);
    for (std::uint64_t i = 0; i < 50; ++i) marked.send(reading, i);
    CHECK(pointer.call(total).get() == 50);
    CHECK(far.record.count_by("tcp") == 50);
    CHECK(traffic_of(near, "tcp").fallbacks == 50);
}

TEST_CASE("a pointer that names its methods keeps marked requests to them") {
    Side far;
    Context near(options("tcp, udp"));
    auto pointer = handed(near, far);
    pointer.use("tcp");
    const auto marked = pointer.with(unreliable);
    for (std::uint64_t i = 0; i < 50; ++i) marked.send(reading, i);
    CHECK(pointer.call(total).get() == 50);
    CHECK(traffic_of(near, "udp").messages_sent == 0);
    pointer.use("tcp, udp");
    until_by_udp(far, pointer.with(unreliable));
}

TEST_CASE("a message that fits arrives whole, a larger one is an error that says how large it may be") {
    Side far("tcp, udp", {{"method.udp.mtu", "1500"}});
    Context near(options("tcp, udp", {{"method.udp.mtu", "1500"}}));
    const auto marked = handed(near, far).with(unreliable);
    until_by_udp(far, marked);
    CHECK(eventually(10s, [&] { // the first goes by tcp: its name is new
        marked.send(picture, std::vector<char>(1'300));
        const std::lock_guard hold(far.record.mutex);
        return far.record.pictures.size() > 3;
    }));
    std::string why;
    try {
        marked.send(picture, std::vector<char>(2'000));
    } catch (const Error& error) {
        CHECK(error.status() == Status::too_large);
        why = error.what();
    }
    CHECK(why.find("is larger than the 1439 that udp carries") != std::string::npos);
    CHECK(marked.try_send(picture, std::vector<char>(2'000)) == Status::too_large);
    // As much as fits with its header of 32 bytes and the length of the vector.
    CHECK(eventually(10s, [&] { // one alone may be lost: what went before may fill the receiver's socket
        CHECK(marked.try_send(picture, std::vector<char>(1'439 - 32 - 8)) == Status::ok);
        const std::lock_guard hold(far.record.mutex);
        return far.record.pictures.back() == 1'439 - 32 - 8;
    }));
}

TEST_CASE("what the present path does not carry goes another way, and is counted there") {
    Side far("tcp, udp", {{"method.udp.mtu", "1500"}}); // which it tells when the connection is made
    Context near(options("tcp, udp"));
    const auto marked = handed(near, far).with(unreliable);
    until_by_udp(far, marked);
    marked.send(picture, std::vector<char>(100)); // its name is new
    const std::uint64_t before = traffic_of(near, "tcp").fallbacks;
    for (int i = 0; i < 10; ++i) CHECK(marked.try_send(picture, std::vector<char>(2'000)) == Status::ok);
    CHECK(traffic_of(near, "tcp").fallbacks == before + 10);
    CHECK(eventually(10s, [&] {
        const std::lock_guard hold(far.record.mutex);
        return std::count(far.record.pictures.begin(), far.record.pictures.end(), 2'000U) == 10;
    }));
}

TEST_CASE("marked requests to an object of the own context, or by a pointer that prescribes tcp, take no "
          "datagram") {
    Side far;
    Context near(options("tcp, udp"));
    const auto own = far.bound.pointer().with(unreliable);
    for (std::uint64_t i = 0; i < 50; ++i) own.send(reading, i);
    CHECK(eventually(10s, [&] { return far.record.count() == 50; }));
    CHECK(traffic_of(far.context, "udp").messages_sent == 0);
    until_by_udp(far, handed(near, far).with(unreliable));
    const std::uint64_t before = traffic_of(near, "udp").messages_sent;
    auto prescribed = handed(near, far);
    prescribed.prescribe("tcp");
    for (std::uint64_t i = 0; i < 50; ++i) prescribed.with(unreliable).send(reading, i);
    CHECK(prescribed.call(total).get() >= 100);
    CHECK(traffic_of(near, "udp").messages_sent == before);
}

TEST_CASE("a marked request after its context has gone is an error, also by a pointer that was never used") {
    Side far;
    auto near = std::make_unique<Context>(options("tcp, udp"));
    const auto pointer = handed(*near, far);
    until_by_udp(far, pointer.with(unreliable));
    auto fresh = pointer;
    fresh.use("udp, tcp"); // chooses anew
    const auto marked = fresh.with(unreliable);
    near.reset();
    CHECK(marked.try_send(reading, 1) == Status::closed);
}

TEST_CASE("loopback carries what UDP carries at most") {
    Side far("tcp, udp", {{"method.udp.rcvbuf", "1 MiB"}});
    Context near(options("tcp, udp"));
    const auto marked = handed(near, far).with(unreliable);
    until_by_udp(far, marked);
    CHECK(eventually(10s, [&] {
        marked.send(picture, std::vector<char>(60'000));
        const std::lock_guard hold(far.record.mutex);
        return far.record.pictures.size() > 3;
    }));
    CHECK(marked.try_send(picture, std::vector<char>(66'000)) == Status::too_large);
}

TEST_CASE("what a marked request does wrong is reported as of any other") {
    constexpr Request<void(Sensor&, int)> unknown{"udp.unknown"};
    std::atomic<int> complaints{0};
    Side far;
    Context near(options("tcp, udp"));
    near.on_error([&](const Error& error) {
        if (std::string(error.what()).find("udp.unknown") != std::string::npos) ++complaints;
    });
    const auto guard = expect_warning("a one-way request of");
    const auto marked = handed(near, far).with(unreliable);
    until_by_udp(far, marked);
    CHECK(eventually(10s, [&] {
        marked.send(unknown, 1);
        return complaints.load() > 3;
    }));
}

TEST_CASE("a peer that has ended is an error again") {
    auto far = std::make_unique<Side>();
    Context near(options("tcp, udp"));
    const auto marked = handed(near, *far).with(unreliable);
    until_by_udp(*far, marked);
    far.reset();
    CHECK(eventually(15s, [&] { return marked.try_send(reading, 1) == Status::peer_lost; }));
}

TEST_CASE("threads that send marked requests while their context closes are told, and it closes") {
    Side far;
    auto near = std::make_unique<Context>(options("tcp, udp"));
    const auto marked = handed(*near, far).with(unreliable);
    until_by_udp(far, marked);
    std::atomic<std::uint64_t> sent{0};
    std::atomic<int> closed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
            const bool told = eventually(30s, [&] {
                for (int k = 0; k < 100; ++k) {
                    ++sent;
                    if (marked.try_send(reading, 1) == Status::closed) return true;
                }
                return false;
            });
            if (told) ++closed;
        });
    CHECK(eventually(10s, [&] { return sent.load() > 2'000; }));
    near.reset();
    for (std::thread& each : threads) each.join();
    CHECK(closed.load() == 2);
}

TEST_CASE("a forked child sends nothing: no number of a datagram is used twice") {
    Side far;
    Context near(options("tcp, udp"));
    const auto marked = handed(near, far).with(unreliable);
    until_by_udp(far, marked);
    Process child([&](Channel&) { return marked.try_send(reading, 7) == Status::closed ? 0 : 1; });
    CHECK(child.code(20s) == 0);
    until_by_udp(far, marked);
    const auto all = far.record.all();
    CHECK(std::count(all.begin(), all.end(), 7U) == 0);
}

TEST_CASE("a pointer in the arguments takes the way on which nothing is lost") {
    constexpr Request<void(Sensor&, GlobalPointer<Sensor>)> meet{"udp.meet"};
    std::atomic<int> met{0};
    std::atomic<int> by_tcp{0};
    Side far;
    Side near;
    far.context.on(meet, [&](Sensor&, const GlobalPointer<Sensor>& other) {
        ++met;
        if (caller().method == "tcp" && other.context() == near.context.id()) ++by_tcp;
    });
    const auto marked = handed(near.context, far).with(unreliable);
    until_by_udp(far, marked);
    for (int i = 0; i < 20; ++i) marked.send(meet, near.bound.pointer());
    CHECK(eventually(10s, [&] { return met.load() == 20; }));
    CHECK(by_tcp.load() == 20);
}

} // namespace contexts_test
