// SPDX-License-Identifier: BSD-3-Clause
// What a hop costs: the same ping-pong and the same stream directly and through a forwarder, in one run,
// and beside that by plain sockets and a process that copies. Hidden: "[measure]" runs it.
#include "gates.h"
#include "raw_relay.h"

#include <algorithm>
#include <cstdio>

namespace forward_measure_test {

using namespace plexus;
using namespace plexus::testing;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMessage = std::size_t{1} << 20;

/// The best of several rounds: microseconds for each of so many turns.
template <class F>
double best_us(int rounds, int turns, F turn) {
    double best = 1e12;
    for (int round = 0; round < rounds; ++round) {
        const auto start = Clock::now();
        for (int i = 0; i < turns; ++i) turn();
        best =
            std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / turns);
    }
    return best;
}

double round_trip_us(const GlobalPointer<Ledger>& far) {
    return best_us(7, 2000, [&] { static_cast<void>(far.call(twice, 1).get()); });
}
double round_trip_us(int fd) {
    return best_us(7, 2000, [&] { exchange_plainly(fd, 0); });
}

double bytes_per_us(const GlobalPointer<Ledger>& far) {
    constexpr int kMessages = 100;
    const std::vector<std::byte> load(kMessage);
    return kMessages * static_cast<double>(kMessage) / best_us(5, 1, [&] {
               for (int i = 0; i < kMessages; ++i) far.send(note, 0, load);
               static_cast<void>(far.call(twice, 1).get()); // behind them
           });
}
double bytes_per_us(int fd) {
    constexpr std::uint64_t kBytes = 100 * kMessage;
    return static_cast<double>(kBytes) / best_us(5, 1, [&] { exchange_plainly(fd, kBytes); });
}

struct Figures {
    double us;
    double rate;
};

Figures say(const char* what, const Figures& direct, const Figures& relayed) {
    const Figures ratio{relayed.us / direct.us, relayed.rate / direct.rate};
    std::printf(
        "%-14s round trip %6.1f us directly, %6.1f us relayed: %5.2f times; 1 MiB messages %5.0f MB/s "
        "directly, %5.0f MB/s relayed: %4.2f times\n",
        what, direct.us, relayed.us, ratio.us, direct.rate, relayed.rate, ratio.rate);
    return ratio;
}

/// By plain sockets, with processes that end before others are started.
Figures plain_ratio() {
    const PlainServer server(answer_plainly);
    const PlainServer relay(relay_plainly, server.port());
    const auto measured = [](std::uint16_t port) {
        const UniqueFd fd = connect_plainly(port);
        const double us = round_trip_us(fd.get());
        return Figures{us, bytes_per_us(fd.get())};
    };
    const Figures direct = measured(server.port());
    return say("plain sockets", direct, measured(relay.port()));
}

TEST_CASE("a forwarded way beside the direct one", "[.][measure]") {
    const Figures machine = plain_ratio();
    const KeyFile key;
    Gate gate(key, "gate");
    const std::string url = gate.url();
    REQUIRE_FALSE(url.empty());
    Process far_end([url, path = key.path()](Channel& channel) {
        Target target(behind(url, {{"job.key_file", path}}));
        channel.put(target.pointer().save());
        target.context().run();
        return 0;
    });
    const auto saved = far_end.channel().take(kLimit);
    REQUIRE(saved);
    Context source(by("tcp, forward", {{"job.key_file", key.path()}}));
    auto direct = GlobalPointer<Ledger>::load(source, *saved);
    auto relayed = GlobalPointer<Ledger>::load(source, *saved);
    direct.use("tcp");
    relayed.use("forward");
    const double direct_us = round_trip_us(direct);
    const double relayed_us = round_trip_us(relayed);
    const Figures ratio = say("tcp", {direct_us, bytes_per_us(direct)}, {relayed_us, bytes_per_us(relayed)});
    std::printf("beside plain sockets: latency ratio %.2f times theirs, rate ratio %.2f times theirs\n",
                ratio.us / machine.us, ratio.rate / machine.rate);
    CHECK(relayed_us > direct_us);
    source.on_error([](const Error&) {});
}

} // namespace forward_measure_test
