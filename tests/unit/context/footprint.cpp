// SPDX-License-Identifier: BSD-3-Clause
// What a connected peer costs while nothing is said: heap and shared memory, whole contexts
// with all that they keep of each other. Run with -s to see the figures.
#include "contexts.h"

#include <malloc.h>
#include <memory>
#include <numeric>

namespace footprint_test {

using namespace plexus;
using namespace plexus::testing;

struct Hub {};
constexpr Request<int(Hub&, std::vector<std::uint8_t>)> measure{"footprint.measure"};

std::uint64_t shared_bytes(const Context& context) {
    const auto lanes = context.lanes();
    return std::accumulate(
        lanes.begin(), lanes.end(), std::uint64_t{0},
        [](std::uint64_t sum, const LaneReport& lane) { return sum + lane.traffic.shared_bytes; });
}

TEST_CASE("an idle connected peer costs little memory") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    if (kSanitized) SKIP_TEST("a sanitizer's heap is not the program's");
    constexpr std::size_t kPeers = 32;
    const std::size_t heap_most = method == "shm" ? 16 * 1024 : 32 * 1024;
    Hub object;
    Context hub(by(method));
    hub.on(measure,
           [](Hub&, const std::vector<std::uint8_t>& load) { return static_cast<int>(load.size()); });
    const Bound<Hub> bound = hub.bind(object);
    std::vector<std::unique_ptr<Context>> peers;
    for (std::size_t i = 0; i <= kPeers; ++i) peers.push_back(std::make_unique<Context>(by(method)));
    const auto call = [&](std::size_t peer, std::size_t bytes) {
        return within(handed(*peers[peer], bound.pointer()).call(measure, std::vector<std::uint8_t>(bytes)));
    };
    REQUIRE(call(0, 10) == 10); // what is made once
    const std::size_t heap_before = ::mallinfo2().uordblks;
    const std::uint64_t shared_before = shared_bytes(hub);
    for (std::size_t i = 1; i <= kPeers; ++i) {
        REQUIRE(call(i, 10) == 10);
        REQUIRE(call(i, 3'000) == 3'000);
    }
    // Both ends are in this process: the heap holds each connection twice.
    const std::size_t heap_each = (::mallinfo2().uordblks - heap_before) / kPeers / 2;
    const std::uint64_t shared_each = (shared_bytes(hub) - shared_before) / kPeers;
    CAPTURE(method);
    CHECK(heap_each <= heap_most);
    CHECK(shared_each <= 64 * 1024);
}

} // namespace footprint_test
