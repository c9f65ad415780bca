// SPDX-License-Identifier: BSD-3-Clause
#include "base/event_fd.h"
#include "support/catch.h"

#include <poll.h>

namespace event_fd_test {

using namespace plexus;

namespace {

bool is_readable(const EventFd& event) {
    pollfd look{event.get(), POLLIN, 0};
    return ::poll(&look, 1, 0) == 1;
}

} // namespace

TEST_CASE("a descriptor that was woken is readable until it is cleared") {
    const EventFd event = EventFd::create();
    REQUIRE(event);
    CHECK_FALSE(is_readable(event));
    event.wake();
    event.wake();
    CHECK(is_readable(event));
    event.clear();
    CHECK_FALSE(is_readable(event));
    event.clear(); // nobody woke it: does not block
    EventFd::wake(event.get());
    CHECK(is_readable(event));
}

TEST_CASE("an empty one is none") {
    const EventFd event;
    CHECK_FALSE(event);
    CHECK(event.get() < 0);
}

} // namespace event_fd_test
