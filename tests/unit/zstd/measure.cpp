// SPDX-License-Identifier: BSD-3-Clause
// What compression costs where it can't help, and what it gains on a slow link. Run by hand on an idle
// machine: unit_zstd '[fast]', and '[slow]' in a network namespace whose loopback carries 100 Mb/s.
#include "contexts.h"
#include "sources.h"
#include "support/catch.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace measure_test {

using namespace plexus::testing;
using namespace plexus::testing::zstd_contexts;

namespace {

using Clock = std::chrono::steady_clock;

/// Two contexts joined by one method, each with its progress thread.
struct Stream {
    explicit Stream(const std::string& method)
      : near(method)
      , far(method)
      , mirror(plexus::GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save())) {}

    /// Bytes a second of a stream of `count` messages.
    double run(const Payload& payload, int count) {
        const auto start = Clock::now();
        for (int i = 0; i < count; ++i) mirror.send(take_request, payload);
        (void)mirror.call(sum_request, Payload{}).get();
        const std::chrono::duration<double> took = Clock::now() - start;
        return static_cast<double>(payload.size()) * count / took.count();
    }

    Side near;
    Side far;
    plexus::GlobalPointer<Mirror> mirror;
};

/// Medians of rounds in turn: what else runs on the machine disturbs both.
double gain(const std::string& over, const Payload& payload, int count, int rounds) {
    Stream bare(over);
    Stream packed("zstd?over=" + over);
    std::vector<double> without;
    std::vector<double> with;
    for (int i = 0; i < rounds; ++i) {
        without.push_back(bare.run(payload, count));
        with.push_back(packed.run(payload, count));
    }
    std::sort(without.begin(), without.end());
    std::sort(with.begin(), with.end());
    const auto middle = static_cast<std::size_t>(rounds / 2);
    std::printf("%s, %zu bytes: %.1f MB/s without, %.1f with, %.3f of it\n", over.c_str(), payload.size(),
                without[middle] / 1e6, with[middle] / 1e6, with[middle] / without[middle]);
    return with[middle] / without[middle];
}

} // namespace

TEST_CASE("data that does not shrink keeps its bandwidth", "[.][fast]") {
    for (const std::size_t size : {std::size_t{8} << 10, std::size_t{64} << 10, kMiB, 16 * kMiB}) {
        const int count = static_cast<int>((std::size_t{512} << 20) / size / (size < kMiB ? 4 : 1));
        CHECK(gain("tcp", payload_of(noise(size)), count, 11) >= 0.97);
    }
}

TEST_CASE("on a slow link data that shrinks is faster, and other data as fast", "[.][slow]") {
    CHECK(gain("tcp", payload_of(noise(kMiB)), 12, 5) >= 0.97);
    CHECK(gain("tcp", payload_of(field(kMiB)), 12, 5) >= 1.5);
    CHECK(gain("tcp", payload_of(field(std::size_t{16} << 10)), 500, 5) >= 1.5);
}

} // namespace measure_test
