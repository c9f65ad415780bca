// SPDX-License-Identifier: BSD-3-Clause
// What members compare of their plans.
#include "group/schedule.h"
#include "support/catch.h"

namespace schedule_test {

using namespace plexus::eco;

TEST_CASE("plans have different numbers if they differ in anything, be it only in the blocks of a message") {
    const Plan plan = plexus::eco::plan({Operation::gather, 6, 2, 100, 8, true}, {Pattern::binomial});
    const std::uint64_t number = detail::part(plan, 0).plan;
    for (Rank member = 1; member < plan.members; ++member) CHECK(detail::part(plan, member).plan == number);

    const auto differs = [&](auto change) {
        Plan other = plan;
        change(other);
        return detail::part(other, 0).plan != number;
    };
    CHECK_FALSE(differs([](Plan&) {}));
    CHECK(differs([](Plan& other) { ++other.ranges.back().first; }));
    CHECK(differs([](Plan& other) { ++other.ranges.front().count; }));
    CHECK(differs([](Plan& other) { other.messages.back().merge = Merge::after; }));
    CHECK(differs([](Plan& other) { std::swap(other.messages.back().from, other.messages.back().to); }));
    CHECK(differs([](Plan& other) { other.messages.back().ranges = 0; }));
    CHECK(differs([](Plan& other) { std::swap(other.steps[2].front(), other.steps[2].back()); }));
}

TEST_CASE("lengths that a member is told are those of a span that can be") {
    const auto fit = [](std::vector<std::uint64_t> counts, std::uint32_t element_bytes) {
        return detail::fit_into_memory(counts, element_bytes);
    };
    CHECK(fit({}, 1));
    CHECK(fit({0, 1'000'000'000'000, 7}, 8));
    CHECK_FALSE(fit({std::uint64_t{1} << 63}, 1));
    CHECK_FALSE(fit({std::uint64_t{1} << 60}, 8));
    CHECK_FALSE(fit({std::uint64_t{1} << 61, std::uint64_t{1} << 61, std::uint64_t{1} << 61}, 1));
    CHECK_FALSE(fit({UINT64_MAX, 1}, 1)); // their sum has no place in 64 bits
}

} // namespace schedule_test
