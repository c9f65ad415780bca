// SPDX-License-Identifier: BSD-3-Clause
// A thing knows whether it is still in the process that made it.
#include "base/fork.h"

#include "support/catch.h"
#include "support/process.h"

using namespace plexus;
using namespace plexus::testing;
using namespace std::chrono_literals;

TEST_CASE("a forked child has left the process in which a thing was made, the parent has not") {
    const BirthProcess birth;
    CHECK_FALSE(birth.left());
    Process child([&](Channel&) {
        const BirthProcess own;
        if (!birth.left() || own.left()) return 1;
        Process grandchild([&](Channel&) { return birth.left() && own.left() ? 0 : 2; });
        return grandchild.wait(10s).value_or(3);
    });
    CHECK(child.wait(10s) == 0);
    CHECK_FALSE(birth.left());
}
