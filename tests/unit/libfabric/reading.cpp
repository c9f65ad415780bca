// SPDX-License-Identifier: BSD-3-Clause
// Large messages that are read out of their sender's memory, where the provider has no room for it.
#include "support/catch.h"
#include "support/process.h"
#include "support/stream.h"
#include "unit/libfabric/module.h"

#include <cstdlib>
#include <unistd.h>

namespace reading_test {

using namespace plexus::testing;

namespace {

// The provider's own variable, which libfabric reads once in a process: so many operations of an
// endpoint may be under way.
constexpr const char* kRoom = "FI_OFI_RXM_TX_SIZE";
constexpr const char* kReads = "reads that find no room with the provider are asked for again";

} // namespace

TEST_CASE(kReads) {
    if (std::getenv(kRoom) == nullptr) { // this case again, in a process that starts with it
        Process again([](Channel&) {
            ::setenv(kRoom, "4", 1);
            return ::execl("/proc/self/exe", "unit_libfabric", kReads, nullptr);
        });
        CHECK(again.wait(60s) == 0);
        return;
    }
    Pair pair(libfabric(), on_loopback({}), on_loopback({}));
    const std::size_t size = 1'000'000;
    // In sixteen pieces, each of which is a read: more than there is room for.
    pair.a.send(*pair.to_b, std::make_shared<const Bytes>(content(5, size, size)), 32, 17);
    // The sender does not help, so none of the reads ends meanwhile.
    for (int i = 0; i < 20; ++i) CHECK(pair.b.poll() <= 32);
    std::optional<Bytes> got;
    REQUIRE(pair.pump(10s, [&] { return (got = pair.to_a->take()).has_value(); }));
    CHECK(has_content(*got, 5, size));
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == 1; }));
}

TEST_CASE(
    "a link that is given up while it reads takes its endpoint along, and nothing of it is used again") {
    Pair pair(libfabric(), on_loopback({}), on_loopback({}));
    End* other = pair.b.connect(pair.a.descriptor(), pair.a.id());
    REQUIRE(other != nullptr);
    REQUIRE(pair.pump(10s, [&] { return other->is_open(); }));
    const std::size_t size = 16'000'000;
    pair.a.send(*pair.to_b, std::make_shared<const Bytes>(content(5, size, size)), 32, 17);
    for (int i = 0; i < 4; ++i) pair.b.poll(); // asks for eight pieces
    // What the system has room for arrives, so that some of them end, and the others do not: the
    // sender is not polled meanwhile.
    for (int i = 0; i < 40; ++i) pair.a.poll();
    pair.b.disconnect(*pair.to_a);
    // The library writes to what was read into no more: it has no endpoint from here on.
    CHECK(pair.b.applies(pair.a.descriptor()) == PLEXUS_NO_METHOD);
    pair.b.poll(1); // no more than to forget the link
    CHECK(pump({&pair.b}, 10s, [&] { return other->is_lost(); }));
    CHECK(other->lost_why().find("to end a read") != std::string::npos);
    std::string why;
    CHECK(pair.b.applies(pair.a.descriptor(), &why) == PLEXUS_NO_METHOD); // another method is taken
    CHECK(why == other->lost_why());
}

} // namespace reading_test
