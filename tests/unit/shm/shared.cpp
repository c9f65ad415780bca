// SPDX-License-Identifier: BSD-3-Clause
// Shared memory from a peer is mapped only when it can't be cut short under the reader.
#include "support/catch.h"

#include "shm/memory.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace shared_test {

using namespace plexus::shm;
using plexus::module::OwnedFd;

TEST_CASE("both sides see the same bytes") {
    OwnedFd fd;
    const SharedMemory mine = SharedMemory::create("test", 4096, fd);
    REQUIRE(mine);
    const SharedMemory theirs = SharedMemory::map(fd.get(), 4096, 4096);
    REQUIRE(theirs);
    mine.data()[100] = std::byte{42};
    CHECK(theirs.data()[100] == std::byte{42});
}

TEST_CASE("the size of what we share can't be changed") {
    OwnedFd fd;
    const SharedMemory mine = SharedMemory::create("test", 8192, fd);
    REQUIRE(mine);
    CHECK(::ftruncate(fd.get(), 4096) != 0);
    CHECK(::ftruncate(fd.get(), 16384) != 0);
}

TEST_CASE("memory that a peer could cut short, or of a wrong size, is refused") {
    const OwnedFd open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(open.get(), 4096) == 0);
    CHECK_FALSE(SharedMemory::map(open.get(), 4096, 4096));
    CHECK(errno == EINVAL);
    OwnedFd fd;
    const SharedMemory sealed = SharedMemory::create("test", 4096, fd);
    CHECK_FALSE(SharedMemory::map(fd.get(), 8192, 1 << 20));
    CHECK_FALSE(SharedMemory::map(fd.get(), 64, 2048));
    CHECK_FALSE(SharedMemory::map(-1, 64, 2048));
}

// Where the system has run out of huge pages the first access ends the process by SIGBUS.
TEST_CASE("memory of huge pages is refused") {
    constexpr std::size_t kSize = 2 << 20;
    const OwnedFd huge(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    if (!huge || ::ftruncate(huge.get(), kSize) != 0) SKIP_TEST("the kernel has no huge pages");
    REQUIRE(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    CHECK_FALSE(SharedMemory::map(huge.get(), kSize, kSize));
    CHECK(errno == EINVAL);
}

} // namespace shared_test
