// SPDX-License-Identifier: BSD-3-Clause
// The memory itself: who can open it, and when it is gone.
#include "host/shared_memory.h"
#include "support/catch.h"

#include <cstddef>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>

namespace shared_memory_test {

using namespace plexus::eco::host;
using plexus::Cookie;

namespace {

constexpr std::size_t kBytes = 3 * kPage;

std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::size_t found = 0;
    for (std::string line; std::getline(maps, line);) found += line.find("plexus-group") != line.npos;
    return found;
}

/// What is offered, opened past the mappings that this process has already.
int open_descriptor(const Offer& offer) {
    const std::string path =
        "/proc/" + std::to_string(offer.process) + "/fd/" + std::to_string(offer.descriptor);
    return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

} // namespace

TEST_CASE("memory is zero except for its cookie, mapped once in a process, and gone with its last user") {
    Offer offer;
    auto made = SharedMemory::create(kBytes, offer);
    REQUIRE(made != nullptr);
    CHECK(made->at<ArenaHeader>(0)->cookie == offer.cookie);
    CHECK(offer.cookie != Cookie{});
    CHECK(*made->at<std::uint64_t>(kBytes - 8) == 0);
    auto opened = SharedMemory::open(offer);
    CHECK(opened == made);
    CHECK(mappings() == 1);
    made.reset();
    CHECK(mappings() == 1);
    opened.reset();
    CHECK(mappings() == 0);
    CHECK(SharedMemory::open(offer) == nullptr);
}

TEST_CASE("the size of the memory can't be changed") {
    Offer offer;
    const auto made = SharedMemory::create(kBytes, offer);
    const int descriptor = open_descriptor(offer);
    REQUIRE(descriptor >= 0);
    CHECK(::ftruncate(descriptor, 0) != 0);
    CHECK(::ftruncate(descriptor, 2 * kBytes) != 0);
    ::close(descriptor);
}

TEST_CASE("nobody opens the memory when its descriptor is closed") {
    Offer offer;
    const auto made = SharedMemory::create(kBytes, offer);
    made->close_descriptor();
    const int descriptor = open_descriptor(offer);
    CHECK(descriptor < 0);
    if (descriptor >= 0) ::close(descriptor);
}

TEST_CASE("an offer with another cookie, size or kind of file is not taken") {
    Offer offer;
    const auto made = SharedMemory::create(kBytes, offer);
    Offer other = offer;
    other.cookie[3] ^= 1;
    CHECK(SharedMemory::open(other) == nullptr);
    other.bytes += kPage;
    CHECK(SharedMemory::open(other) == nullptr);
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC); // a file that nobody sealed
    REQUIRE(file >= 0);
    other.descriptor = static_cast<std::uint64_t>(file);
    CHECK(SharedMemory::open(other) == nullptr);
    ::close(file);
    CHECK(mappings() == 1);
}

} // namespace shared_memory_test
