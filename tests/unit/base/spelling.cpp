// SPDX-License-Identifier: BSD-3-Clause
// What a misspelt word may have meant.
#include "support/catch.h"

#include "base/spelling.h"

namespace spelling_test {

using namespace plexus;
using Words = std::vector<std::string>;

TEST_CASE("the nearest words come first, and none where nothing is near") {
    const Words known{"tcp", "posix", "rc_mlx5", "rc_verbs"};
    CHECK(nearest("tpc", known) == Words{"tcp"});
    CHECK(nearest("rc", known) == Words{"rc_mlx5", "rc_verbs"});
    CHECK(nearest("something", known).empty());
    CHECK(nearest("x", {}).empty());
    CHECK(nearest("ab", Words{"abc", "abd", "abe", "abf"}).size() == 3);
}

TEST_CASE("what may have been meant is a question, or nothing") {
    const Words known{"tcp", "rc_mlx5", "rc_verbs"};
    CHECK(did_you_mean("rc", known) == "; did you mean rc_mlx5 or rc_verbs?");
    CHECK(did_you_mean("something", known).empty());
}

TEST_CASE("two neighbours that are swapped are one slip") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("tcp", "tcp") == 0);
    CHECK(edit_distance("tpc", "tcp") == 1);
    CHECK(edit_distance("tc", "tcp") == 1);
    CHECK(edit_distance("", "tcp") == 3);
    CHECK(edit_distance("shm", "tcp") == 3);
}

} // namespace spelling_test
