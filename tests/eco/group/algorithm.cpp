// SPDX-License-Identifier: BSD-3-Clause
// The words for a pattern.
#include "support/catch.h"

#include "group/algorithm_text.h"
#include "plexus/eco/algorithm.h"

namespace algorithm_test {

using namespace plexus::eco;

TEST_CASE("every pattern is known by its name, and what it has of its own stands behind a colon") {
    CHECK(parse_algorithm("auto"));
    CHECK_FALSE(parse_algorithm("auto")->options());
    CHECK(parse_algorithm("eco")->follows_map());
    CHECK(parse_algorithm("models")->uses_models());
    CHECK_FALSE(parse_algorithm("models")->follows_map());
    CHECK(supports(Algorithm::by_models(), Operation::all_to_all));
    CHECK_FALSE(supports(Algorithm::by_models(), Operation::exclusive_scan));
    CHECK(parse_algorithm("memory")->uses_memory());
    CHECK(parse_algorithm("multicast")->uses_multicast());
    CHECK(parse_algorithm("messages")->uses_messages());
    for (const Pattern pattern : kPatterns)
        CHECK(parse_algorithm(to_string(pattern))->options()->pattern == pattern);
    CHECK(parse_algorithm("binary")->options()->arity == 2);
    CHECK(parse_algorithm("tree:4")->options()->arity == 4);
    CHECK(parse_algorithm("chain:64KiB")->options()->segment_bytes == 65536);
    CHECK(parse_algorithm("chain:500")->options()->segment_bytes == 500);
    const auto levels = parse_algorithm("levels:chain:64KiB/tree:3/star");
    REQUIRE(levels);
    REQUIRE(levels->levels() != nullptr);
    REQUIRE(levels->levels()->size() == 3);
    CHECK(levels->levels()->front().segment_bytes == 65536);
    CHECK(levels->levels()->at(1).arity == 3);
    CHECK(levels->levels()->back().pattern == Pattern::star);
    CHECK_FALSE(levels->options());
    CHECK(parse_algorithm("levels:ring")->levels()->size() == 1);
    CHECK(parse_algorithm("ring")->levels() == nullptr);
    const auto ruled = parse_algorithm("ecef_lat_max/chain:8KiB/star");
    REQUIRE(ruled);
    CHECK(ruled->rule() == ScheduleRule::ecef_lat_max);
    REQUIRE(ruled->levels()->size() == 2);
    CHECK(ruled->levels()->front().segment_bytes == 8192);
    CHECK_FALSE(levels->rule());
    for (const char* const text : {"auto", "models", "star", "chain:500B", "tree:4",
                                   "levels:chain:64B/tree:3/star", "flat/star", "bottom_up/tree:2/chain:9B"})
        CHECK(detail::text_of(*parse_algorithm(text)) == text);
    for (const char* const wrong : {"",
                                    "eco:2",
                                    "oak",
                                    "tree:",
                                    "tree:0",
                                    "tree:-1",
                                    "tree:4294967296",
                                    "tree:2 ",
                                    "star:2",
                                    "chain:0",
                                    "chain:9KB",
                                    "chain:18446744073709551615GiB",
                                    ":",
                                    "levels",
                                    "levels:",
                                    "levels:star/",
                                    "levels:/star",
                                    "levels:star//star",
                                    "flat",
                                    "flat/",
                                    "/star",
                                    "oak/star",
                                    "flat/oak",
                                    "flat/star/",
                                    "star/star",
                                    "levels:eco",
                                    "levels:star/oak"})
        CHECK_FALSE(parse_algorithm(wrong));
}

} // namespace algorithm_test
