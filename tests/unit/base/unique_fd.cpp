// SPDX-License-Identifier: BSD-3-Clause
#include "base/unique_fd.h"

#include "support/catch.h"

#include <fcntl.h>

namespace unique_fd_test {

using namespace plexus;

namespace {

int fresh() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

} // namespace

TEST_CASE("a descriptor is closed by its last owner, once") {
    const int fd = fresh();
    {
        UniqueFd first(fd);
        UniqueFd second(std::move(first));
        CHECK_FALSE(first);
        CHECK(second.get() == fd);
        CHECK(is_open(fd));
    }
    CHECK_FALSE(is_open(fd));
}

TEST_CASE("assignment closes what was held, and keeps what is assigned to itself") {
    const int one = fresh();
    const int two = fresh();
    UniqueFd first(one);
    UniqueFd second(two);
    first = std::move(second);
    CHECK_FALSE(is_open(one));
    CHECK(first.get() == two);
    UniqueFd& same = first;
    first = std::move(same);
    CHECK(is_open(two));
}

TEST_CASE("a released descriptor is the caller's") {
    UniqueFd owner(fresh());
    const int fd = owner.release();
    owner.reset();
    CHECK(is_open(fd));
    ::close(fd);
}

} // namespace unique_fd_test
