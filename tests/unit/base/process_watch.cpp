// SPDX-License-Identifier: BSD-3-Clause
// Processes as descriptors: found by number, by number and start, or by a socket.
#include "base/process_watch.h"

#include "support/catch.h"
#include "support/eventually.h"
#include "support/process.h"

#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

namespace process_watch_test {

using namespace plexus;
using namespace plexus::testing;
using namespace std::chrono_literals;

TEST_CASE("a process is found by its socket, or by its number and start") {
    Process child([](testing::Channel& parent) { return parent.take(20s) ? 0 : 1; });
    const std::uint64_t start = start_time_of(child.pid());
    CHECK(start != 0);
    CHECK(start >= start_time_of(::getpid()));
    CHECK(start_time_of(0) == 0);

    const UniqueFd found = process_started_at(child.pid(), start);
    REQUIRE(found);
    CHECK_FALSE(has_ended(found.get()));
    const UniqueFd numbered = process_numbered(child.pid());
    REQUIRE(numbered);
    CHECK_FALSE(has_ended(numbered.get()));
    CHECK_FALSE(process_started_at(child.pid(), start + 1)); // the number of another
    CHECK(errno == ESRCH);
    CHECK_FALSE(process_started_at(child.pid(), 0));
    CHECK(errno == ENODATA);
    CHECK_FALSE(process_started_at(0, start));
    CHECK(errno == ENODATA);
    CHECK_FALSE(has_ended(-1));
    const std::byte end{1};
    REQUIRE(child.channel().put({&end, 1}));
    CHECK(eventually(10s, [&] { return has_ended(found.get()); }));
    CHECK_FALSE(process_started_at(child.pid(), start)); // not reaped yet, but over
    CHECK(errno == ESRCH);
    CHECK(has_ended(numbered.get()));
    CHECK(child.wait(10s) == 0);
    CHECK_FALSE(process_numbered(child.pid())); // reaped
    CHECK(errno == ESRCH);

    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    const UniqueFd one(ends[0]);
    const UniqueFd other(ends[1]);
    if (const UniqueFd self = peer_process(one.get())) CHECK_FALSE(has_ended(self.get())); // Linux 6.5
}

} // namespace process_watch_test
