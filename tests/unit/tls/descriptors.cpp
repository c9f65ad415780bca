// SPDX-License-Identifier: BSD-3-Clause
// A process that has no descriptors left, on connections of the method's own: links wait, an operator reads
// why, and they come about once descriptors are free.
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/limit.h"
#include "support/log_guard.h"
#include "support/process.h"

#include <optional>

namespace descriptors_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;

namespace {

const BareOptions kByKey{{}, {1, 2, 3}, {{"listen", "127.0.0.1"}}};
Method tls() { return method_of(plexus_passport); }

/// Takes turns that find no descriptor.
void poll_without_descriptors(BareHost& host) {
    for (int i = 0; i < 1'000; ++i) host.poll();
}

} // namespace

TEST_CASE("a process without free descriptors says so once, and accepts again when it has some") {
    Process child([](Channel&) {
        const auto expected = expect_warning("limit of open files");
        BareHost host(tls(), kByKey);
        BareHost peer(tls(), kByKey);
        End* const end = peer.connect(host.descriptor(), host.id());
        if (end == nullptr) return 2;
        peer.poll(); // its socket is there, and waits to be accepted
        {
            const Limit none(RLIMIT_NOFILE, next_descriptor());
            poll_without_descriptors(host);
        }
        if (expected.count() != 1) return 3;
        return pump({&peer, &host}, 20s, [&] { return end->is_open(); }) ? 0 : 4;
    });
    CHECK(child.code(60s) == 0);
}

TEST_CASE("a link waits for a descriptor of this process, and is made as soon as there is one") {
    Process child([](Channel&) {
        BareHost from(tls(), kByKey);
        BareHost to(tls(), kByKey);
        const Bytes there = to.descriptor();
        std::optional<Limit> none(std::in_place, RLIMIT_NOFILE, next_descriptor());
        End* const end = from.connect(there, to.id());
        poll_without_descriptors(from);
        if (end == nullptr || end->is_lost()) return 2;
        none.reset();
        if (!pump({&from, &to}, 20s, [&] { return end->is_open(); })) return 3;
        return from.send(*end, std::make_shared<const Bytes>(100), 24, 2) == PLEXUS_OK ? 0 : 4;
    });
    CHECK(child.code(60s) == 0);
}

} // namespace descriptors_test
