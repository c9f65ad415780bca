// SPDX-License-Identifier: BSD-3-Clause
// What contexts with every method cost while nothing happens: no processor time, neither
// before any connection nor with all of them open.
#include "ends.h"

#include <thread>

using namespace plexus;
using namespace plexus::testing;

namespace idle_test {

constexpr std::int64_t kFewMs = 4'000'000 * std::int64_t{kPatience};

/// Processor time of this process in a second, once all has come to rest.
std::int64_t used_in_a_second() {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const std::int64_t before = processor_time_ns();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return processor_time_ns() - before;
}

} // namespace idle_test

using namespace idle_test;

TEST_CASE("an idle context with every method that is here uses no processor time") {
    Options options;
    options.file = "/dev/null";
    const Context alone(std::move(options));
    REQUIRE(alone.lanes().size() > 1);
    CHECK(used_in_a_second() < kFewMs);
}

TEST_CASE("two contexts with a connection by every method use no processor time while they are idle") {
    const Place place = GENERATE(Place::this_process, Place::other_process);
    CAPTURE(static_cast<int>(place));
    Ends ends(place);
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
    const std::int64_t there = within(far.call(processor_ns));
    CHECK(used_in_a_second() < kFewMs);
    CHECK(within(far.call(processor_ns)) - there < kFewMs + 1'000'000); // and has answered once
    CHECK(within(far.call(wrong)) == 0);
}
