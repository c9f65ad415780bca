// SPDX-License-Identifier: BSD-3-Clause
// Senders that wait for room, and their contexts that sleep meanwhile.
#include "parts.h"
#include "support/catch.h"

#include <poll.h>

namespace waiting_test {

using namespace plexus::testing;

TEST_CASE("a context that sleeps is woken for a send that waits, in however many steps its peer makes room") {
    const auto first_step = GENERATE(32, 64, 96, 127); // a quarter of the ring at a time is given back
    CAPTURE(first_step);
    BareHost writer(shm(), with({{"ring", "16 KiB"}}));
    BareHost reader(shm());
    End* const end = link_up(writer, reader);
    REQUIRE(end != nullptr);
    for (int i = 0; i < 10; ++i) writer.poll(); // it looks at this link directly from now on
    while (writer.send(*end, numbered(32, 1), 32, 1) == PLEXUS_OK) {}
    writer.poll(); // it looks at this link, and has no room
    for (int i = 0; i < first_step; ++i) reader.poll(1);
    std::uint64_t sleep_ns = 10'000'000'000;
    REQUIRE(writer.arm(&sleep_ns) == PLEXUS_OK); // half of the ring is free only later
    REQUIRE(pump({&reader}, 10s, [&] { return reader.poll() == 0; }));
    pollfd event{writer.wait_fd(), POLLIN, 0};
    CHECK(::poll(&event, 1, 1'000) == 1);
    writer.poll();
    CHECK(writer.send(*end, numbered(32, 1), 32, 1) == PLEXUS_OK);
}

} // namespace waiting_test
