// SPDX-License-Identifier: BSD-3-Clause
// Copies into the host's memory, and the end of the right to make them.
#include "support/catch.h"

#include "message_link/write_access.h"

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

namespace write_access_test {

using plexus::message_link::WriteAccess;

TEST_CASE("nothing is copied after access was revoked") {
    const std::array<std::byte, 4> from{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    std::array<std::byte, 4> to{};
    WriteAccess access;
    access.copy(to.data(), from.data(), 2);
    CHECK(to == std::array<std::byte, 4>{std::byte{1}, std::byte{2}});
    access.revoke();
    access.copy(to.data() + 2, from.data() + 2, 2);
    CHECK(to == std::array<std::byte, 4>{std::byte{1}, std::byte{2}});
}

TEST_CASE("a copy that is under way is over when access has been revoked") {
    constexpr std::size_t kSize = 1 << 20;
    const std::vector<std::byte> from(kSize, std::byte{1});
    std::vector<std::byte> to(kSize);
    WriteAccess access;
    std::thread copies([&] {
        for (int time = 0; time < 100; ++time) access.copy(to.data(), from.data(), kSize);
    });
    access.revoke();
    std::fill(to.begin(), to.end(), std::byte{2}); // the owner uses it for something else
    copies.join();
    CHECK(std::all_of(to.begin(), to.end(), [](std::byte each) { return each == std::byte{2}; }));
}

} // namespace write_access_test
