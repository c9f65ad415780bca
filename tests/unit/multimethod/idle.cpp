// SPDX-License-Identifier: BSD-3-Clause
// What contexts with every method cost while nothing happens: no processor time, neither
// before any connection nor with all of them open.
#include "ends.h"

#include <algorithm>
#include <cstdint>
#include <thread>

using namespace plexus;
using namespace plexus::testing;

namespace idle_test {

constexpr std::int64_t kFewMs = 4'000'000 * std::int64_t{kPatience};
constexpr int kSeconds = 10; // at most, and the best counts: others may disturb some

/// The least processor time that `now` says was used in a second, once all has come to rest.
template <class Now>
std::int64_t used_in_a_second(Now&& now) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < kSeconds && least >= kFewMs; ++i) {
        const std::int64_t before = now();
        std::this_thread::sleep_for(std::chrono::seconds(1));
        least = std::min(least, now() - before);
    }
    return least;
}

} // namespace idle_test

using namespace idle_test;

TEST_CASE("an idle context with every method that is here uses no processor time") {
    Options options;
    options.file = "/dev/null";
    const Context alone(std::move(options));
    REQUIRE(alone.lanes().size() > 1);
    CHECK(used_in_a_second(processor_time_ns) < kFewMs);
}

TEST_CASE("two contexts with a connection by every method use no processor time while they are idle") {
    const FarEnd far_end = GENERATE(FarEnd::this_process, FarEnd::other_process);
    CAPTURE(static_cast<int>(far_end));
    Ends ends(far_end);
    auto far = ends.pointer();
    std::uint32_t number = 0;
    for (const std::string& way : ends.ways()) {
        far.use(way);
        for (const std::size_t size : {std::size_t{8}, std::size_t{1} << 20}) {
            const std::vector<std::byte> load(size, mark_of(0, number));
            CHECK(within(far.call(append_call, 0u, number, load)) == number);
            ++number;
        }
    }
    CHECK(used_in_a_second(processor_time_ns) < kFewMs);
    const auto there = [&] { return within(far.call(processor_ns)); };
    CHECK(used_in_a_second(there) < 2 * kFewMs); // and has answered once
    CHECK(within(far.call(wrong)) == 0);
}
