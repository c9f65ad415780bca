// SPDX-License-Identifier: BSD-3-Clause
// A thing knows whether it is still in the process that made it; locks of the process are free in a child.
#include "base/fork.h"

#include "base/buffer.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/process.h"

#include <thread>

namespace fork_test {

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

TEST_CASE("a lock that is held across forks is free in a child, and the data behind it whole") {
    if (kSanitized) SKIP_TEST("the sanitizers' own locks do not survive a fork beside threads");
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) (void)make_buffer(1'000); // takes and gives back under the lock of kept buffers
    });
    for (int round = 0; round < 300; ++round) {
        Process child([&](Channel&) {
            for (int i = 0; i < 10; ++i) (void)make_buffer(1'000);
            return 0;
        });
        CHECK(child.code(20s) == 0);
    }
    stop = true;
    other.join();
}

} // namespace fork_test
