// SPDX-License-Identifier: BSD-3-Clause
// The words for a pattern.
#include "support/catch.h"

#include "plexus/eco/how.h"

using namespace plexus::eco;

TEST_CASE("every pattern is known by its name, and what it has of its own stands behind a colon") {
    CHECK(parse_how("auto"));
    CHECK_FALSE(parse_how("auto")->shape());
    CHECK(parse_how("eco")->follows_map());
    CHECK(parse_how("memory")->by_memory());
    CHECK(parse_how("messages")->by_messages());
    for (const Pattern pattern : kPatterns) CHECK(parse_how(to_string(pattern))->shape()->pattern == pattern);
    CHECK(parse_how("binary")->shape()->arity == 2);
    CHECK(parse_how("tree:4")->shape()->arity == 4);
    CHECK(parse_how("chain:64KiB")->shape()->segment_bytes == 65536);
    CHECK(parse_how("chain:500")->shape()->segment_bytes == 500);
    for (const char* const wrong :
         {"", "eco:2", "oak", "tree:", "tree:0", "tree:-1", "tree:4294967296", "tree:2 ", "star:2", "chain:0",
          "chain:9KB", "chain:18446744073709551615GiB", ":"})
        CHECK_FALSE(parse_how(wrong));
}
