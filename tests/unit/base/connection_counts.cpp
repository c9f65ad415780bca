// SPDX-License-Identifier: BSD-3-Clause
// Which of many unauthenticated connections makes room for the next one.
#include "base/connection_counts.h"

#include "support/catch.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace connection_counts_test {

using plexus::ConnectionCounts;
using Source = ConnectionCounts::Source;

namespace {

Source v4(std::uint8_t last) {
    return ConnectionCounts::source_of(std::array<std::uint8_t, 4>{10, 0, 0, last});
}

struct Connection {
    Source from;
    bool silent = true;
    const Source& source() const { return from; }
    bool is_silent() const { return silent; }
};

/// Connections as a listener keeps them: oldest first, silent ones counted.
struct Listener {
    std::vector<std::unique_ptr<Connection>> connections{};
    ConnectionCounts counts{};

    Connection& accept(const Source& source) {
        connections.push_back(std::make_unique<Connection>(Connection{source}));
        counts.add(source);
        return *connections.back();
    }
    void greet(Connection& connection) {
        connection.silent = false;
        counts.remove(connection.from);
    }
    void close(const Connection& connection) {
        if (connection.silent) counts.remove(connection.from);
        connections.erase(std::find_if(connections.begin(), connections.end(),
                                       [&](const auto& each) { return each.get() == &connection; }));
    }
    Connection* victim() const { return counts.eviction_victim(connections); }
};

} // namespace

TEST_CASE("without connections there is no victim") { CHECK(Listener().victim() == nullptr); }

TEST_CASE("the oldest silent connection of the source with the most silent ones makes room") {
    Listener listener;
    Connection& single = listener.accept(v4(1)); // older than the flood
    Connection& first = listener.accept(v4(2));
    Connection& second = listener.accept(v4(2));
    Connection& third = listener.accept(v4(2));
    CHECK(listener.victim() == &first);
    listener.greet(first); // two silent ones are left: a greeting keeps a connection its place
    CHECK(listener.victim() == &second);
    listener.close(second);
    CHECK(listener.victim() == &single); // as many silent ones as the other source, and older
    listener.close(single);
    CHECK(listener.victim() == &third);
}

TEST_CASE("where no connection is silent the oldest makes room") {
    Listener listener;
    Connection& first = listener.accept(v4(1));
    Connection& second = listener.accept(v4(2));
    listener.greet(second);
    CHECK(listener.victim() == &first);
    listener.greet(first);
    CHECK(listener.victim() == &first);
}

TEST_CASE("a flood from one source closes connections of that source only") {
    constexpr std::size_t kMost = 16;
    Listener listener;
    for (std::uint8_t peer = 1; peer <= 4; ++peer) listener.accept(v4(peer));
    for (int round = 0; round < 200; ++round) {
        if (listener.connections.size() >= kMost) listener.close(*listener.victim());
        listener.accept(v4(99));
    }
    for (std::uint8_t peer = 1; peer <= 4; ++peer)
        CHECK(std::any_of(listener.connections.begin(), listener.connections.end(),
                          [&](const auto& each) { return each->from == v4(peer); }));
}

TEST_CASE("the choice is that of a plain count over all connections") {
    std::mt19937 random(7);
    const auto draw = [&](std::size_t below) { return std::size_t{random()} % below; };
    Listener listener;
    for (int step = 0; step < 5000; ++step) {
        auto& connections = listener.connections;
        const std::size_t action = connections.empty() ? 0 : draw(3);
        if (action == 0) {
            listener.accept(v4(static_cast<std::uint8_t>(draw(5))));
        } else if (Connection& one = *connections[draw(connections.size())]; action == 1) {
            if (one.silent) listener.greet(one);
        } else {
            listener.close(one);
        }
        const auto silent_of = [&](const Source& source) {
            return std::count_if(connections.begin(), connections.end(),
                                 [&](const auto& each) { return each->silent && each->from == source; });
        };
        std::ptrdiff_t most = 0;
        for (const auto& each : connections) most = std::max(most, silent_of(each->from));
        const auto expected = std::find_if(connections.begin(), connections.end(), [&](const auto& each) {
            return most == 0 || (each->silent && silent_of(each->from) == most);
        });
        REQUIRE(listener.victim() == (expected == connections.end() ? nullptr : expected->get()));
    }
}

TEST_CASE("a source is an IPv4 address, or of IPv6 the network of 64 bits") {
    using V6 = std::array<std::uint8_t, 16>;
    const V6 one{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8};
    V6 same_network = one;
    same_network[8] = 99;
    V6 other_network = one;
    other_network[7] = 8;
    CHECK(ConnectionCounts::source_of(one) == ConnectionCounts::source_of(same_network));
    CHECK(ConnectionCounts::source_of(one) != ConnectionCounts::source_of(other_network));
    CHECK(v4(1) != v4(2));
    const V6 mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    CHECK(ConnectionCounts::source_of(mapped) == v4(1));
    const V6 loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    CHECK(ConnectionCounts::source_of(loopback) != v4(1));
}

} // namespace connection_counts_test
