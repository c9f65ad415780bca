// SPDX-License-Identifier: BSD-3-Clause
// A plan is a value: the same task gives the same plan, and lengths of blocks can be replaced.
#include "support/catch.h"

#include "plexus/eco/plan.h"

namespace values_test {

using namespace plexus::eco;

TEST_CASE("the same task and shape give the same plan") {
    for (const Operation operation : kOperations)
        for (const Pattern pattern : kPatterns)
            if (supports(pattern, operation)) {
                const PlanRequest request{operation, 11, 3, 100, 4, true};
                CHECK(plan(request, {pattern}) == plan(request, {pattern}));
            }
}

TEST_CASE("a plan stays right when its blocks get other lengths, and messages count their bytes") {
    Plan made = plan({Operation::gather, 3, 0, 1, 8, true}, {Pattern::chain});
    made.block_elements = {5, 0, 7};
    CHECK(prove(made));
    REQUIRE(made.messages.size() == 2);
    CHECK(made.bytes_of(made.messages[0]) == 7 * 8); // 2 to 1
    CHECK(made.bytes_of(made.messages[1]) == 7 * 8); // 1 to 0: its own is empty
}

TEST_CASE("operations and patterns have names") {
    CHECK(to_string(Operation::all_to_all) == "all_to_all");
    CHECK(to_string(Pattern::butterfly) == "butterfly");
}

} // namespace values_test
