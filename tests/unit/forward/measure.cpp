// SPDX-License-Identifier: BSD-3-Clause
// What a hop costs: the same ping-pong and the same stream directly and through a forwarder, in one run.
// Hidden:
// "[measure]" runs it.
#include "sites.h"

#include "support/process.h"
#include "unit/context/key_file.h"

#include <algorithm>
#include <cstdio>

namespace forward_measure_test {

using namespace plexus;
using namespace plexus::testing;
using Clock = std::chrono::steady_clock;

double round_trip_us(const GlobalPointer<Ledger>& far) {
    double best = 1e9;
    for (int round = 0; round < 7; ++round) {
        constexpr int kTurns = 2000;
        const auto start = Clock::now();
        for (int i = 0; i < kTurns; ++i) static_cast<void>(far.call(twice, 1).get());
        best =
            std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kTurns);
    }
    return best;
}

double bytes_per_us(const GlobalPointer<Ledger>& far) {
    const std::vector<std::byte> load(std::size_t{1} << 20);
    double best = 0;
    for (int round = 0; round < 5; ++round) {
        constexpr int kMessages = 100;
        const auto start = Clock::now();
        for (int i = 0; i < kMessages; ++i) far.send(note, 0, load);
        static_cast<void>(far.call(twice, 1).get()); // behind them
        const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
        best = std::max(best, static_cast<double>(load.size()) * kMessages / us);
    }
    return best;
}

TEST_CASE("a forwarded way beside the direct one", "[.][measure]") {
    const KeyFile key;
    Process gate([path = key.path()](Channel& channel) {
        Context context(gate_options("gate", {{"job.key_file", path}}));
        const std::string url = context.url();
        channel.put(std::as_bytes(std::span(url)));
        context.run();
        return 0;
    });
    const auto said = gate.channel().take(kLimit);
    REQUIRE(said);
    const std::string url(reinterpret_cast<const char*>(said->data()), said->size());
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
    const double direct_rate = bytes_per_us(direct);
    const double relayed_rate = bytes_per_us(relayed);
    std::printf("round trip: %.1f us directly, %.1f us forwarded: %.2f times\n", direct_us, relayed_us,
                relayed_us / direct_us);
    std::printf("1 MiB messages: %.0f MB/s directly, %.0f MB/s forwarded: %.2f times\n", direct_rate,
                relayed_rate, relayed_rate / direct_rate);
    CHECK(relayed_us > direct_us);
    source.on_error([](const Error&) {});
}

} // namespace forward_measure_test
