// SPDX-License-Identifier: BSD-3-Clause
// Promise: a process that has no descriptors left keeps its module. A link that needs some waits for them or
// is lost with a reason, and links come about as soon as there are some.
#include "support/catch.h"
#include "support/limit.h"
#include "support/log_guard.h"
#include "support/process.h"
#include "support/stream.h"

namespace shortage_test {

using namespace plexus::testing;

namespace {

bool is_settled(const End& end) { return end.is_open() || end.is_lost(); }

} // namespace

TEST_CASE("a link that finds no descriptor waits or is lost with a reason, and later ones come about") {
    Process child([](Channel&) {
        const auto said = expect_warning("open files"); // an operator may be told
        BareHost from(method_under_test());
        BareHost to(method_under_test());
        End* end = nullptr;
        {
            const Bytes there = to.descriptor();
            const Limit none(RLIMIT_NOFILE, next_descriptor());
            end = from.connect(there, to.id());
            for (int i = 0; i < 1'000 && end != nullptr && !is_settled(*end); ++i) {
                from.poll();
                to.poll();
            }
        }
        if (end == nullptr) return 2;
        if (end->is_lost() && end->lost_why().empty()) return 3;
        if (!pump({&from, &to}, 30s, [&] { return is_settled(*end); })) return 4; // it has waited
        End* const later = link_up(from, to);
        if (later == nullptr) return 5;
        return from.send(*later, std::make_shared<const Bytes>(100), 24, 2) == PLEXUS_OK ? 0 : 6;
    });
    CHECK(child.code(60s) == 0);
}

} // namespace shortage_test
