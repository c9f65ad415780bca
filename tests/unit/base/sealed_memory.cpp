// SPDX-License-Identifier: BSD-3-Clause
// Shared memory from a peer is mapped only when it can't be cut short under the reader.
#include "support/catch.h"

#include "base/sealed_memory.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace sealed_memory_test {

using namespace plexus;

TEST_CASE("both sides see the same bytes") {
    UniqueFd fd;
    const SealedMemory mine = SealedMemory::create("test", 4096, fd);
    REQUIRE(mine);
    const SealedMemory theirs = SealedMemory::map(fd.get(), 4096, 4096);
    REQUIRE(theirs);
    mine.data()[100] = std::byte{42};
    CHECK(theirs.data()[100] == std::byte{42});
}

TEST_CASE("the size of what we share can't be changed") {
    UniqueFd fd;
    const SealedMemory mine = SealedMemory::create("test", 8192, fd);
    REQUIRE(mine);
    CHECK(::ftruncate(fd.get(), 4096) != 0);
    CHECK(::ftruncate(fd.get(), 16384) != 0);
}

TEST_CASE("memory that a peer could cut short, or of a wrong size, is refused") {
    const UniqueFd open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(open.get(), 4096) == 0);
    CHECK_FALSE(SealedMemory::map(open.get(), 4096, 4096));
    CHECK(errno == EINVAL);
    UniqueFd fd;
    const SealedMemory sealed = SealedMemory::create("test", 4096, fd);
    CHECK_FALSE(SealedMemory::map(fd.get(), 8192, 1 << 20));
    CHECK_FALSE(SealedMemory::map(fd.get(), 64, 2048));
    CHECK_FALSE(SealedMemory::map(-1, 64, 2048));
}

TEST_CASE("memory of others can be mapped for reading alone") {
    UniqueFd fd;
    const SealedMemory mine = SealedMemory::create("test", 4096, fd);
    REQUIRE(mine);
    mine.data()[7] = std::byte{9};
    UniqueFd reading(::open(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(reading);
    CHECK_FALSE(SealedMemory::map(reading.get(), 4096, 4096)); // the descriptor does not permit writing
    CHECK(errno == EINVAL);
    const SealedMemory theirs = SealedMemory::map(reading.get(), 4096, 4096, SealedMemory::Access::read);
    REQUIRE(theirs);
    CHECK(theirs.data()[7] == std::byte{9});
}

TEST_CASE("of memory of others a prefix alone can be mapped, whatever its size must be") {
    UniqueFd fd;
    const SealedMemory mine = SealedMemory::create("test", 1 << 20, fd);
    REQUIRE(mine);
    constexpr auto kWrite = SealedMemory::Access::write;
    const SealedMemory prefix = SealedMemory::map(fd.get(), 4096, 1 << 20, kWrite, 64);
    REQUIRE(prefix);
    CHECK(prefix.size() == 64);
    prefix.data()[63] = std::byte{5};
    CHECK(mine.data()[63] == std::byte{5});
    CHECK(SealedMemory::map(fd.get(), 4096, 1 << 20, kWrite, 2 << 20).size() == 1 << 20);
    CHECK_FALSE(SealedMemory::map(fd.get(), 4096, 4096, kWrite, 64));
    CHECK(errno == EINVAL);
}

TEST_CASE("discarded memory reads as zeros") {
    UniqueFd fd;
    SealedMemory mine = SealedMemory::create("test", 8192, fd);
    REQUIRE(mine);
    mine.data()[5000] = std::byte{1};
    mine.discard();
    CHECK(mine.data()[5000] == std::byte{0});
}

// Where the system has run out of huge pages the first access ends the process by SIGBUS.
TEST_CASE("memory of huge pages is refused") {
    constexpr std::size_t kSize = 2 << 20;
    const UniqueFd huge(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    if (!huge || ::ftruncate(huge.get(), kSize) != 0) SKIP_TEST("the kernel has no huge pages");
    REQUIRE(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    CHECK_FALSE(SealedMemory::map(huge.get(), kSize, kSize));
    CHECK(errno == EINVAL);
}

} // namespace sealed_memory_test
