// SPDX-License-Identifier: BSD-3-Clause
// Contexts with the method that start: those that cannot leave nothing behind.
#include "sites.h"

#include "support/footprint.h"

namespace forward_starts_test {

using namespace plexus;
using namespace plexus::testing;

TEST_CASE("a context whose start fails behind its methods leaves no descriptor and no thread") {
    const Context keeps_once(by("tcp, forward")); // what is made once for a process stays
    const auto meets_nobody = [] {                // nothing listens at port 1
        const Context context = Context::attach("plexus://127.0.0.1:1",
                                                by("tcp, forward", {{"progress.lookup_timeout", "20 ms"}}));
    };
    const auto is_not_found = [] { // it would relay, and does not listen
        const Context context(by("tcp, forward", {{"forward.allow", "all"}}));
    };
    REQUIRE(refusal_of([&] { return meets_nobody(), 0; }).status == Status::not_found);
    REQUIRE(refusal_of([&] { return is_not_found(), 0; }).status == Status::bad_config);
    const Footprint before = Footprint::now();
    for (int i = 0; i < 100; ++i) {
        CHECK(refusal_of([&] { return meets_nobody(), 0; }).status == Status::not_found);
        CHECK(refusal_of([&] { return is_not_found(), 0; }).status == Status::bad_config);
    }
    const Footprint after = Footprint::settled(before.threads);
    CHECK(after.descriptors <= before.descriptors);
    CHECK(after.threads <= before.threads);
}

} // namespace forward_starts_test
