// SPDX-License-Identifier: BSD-3-Clause
// A message in pieces: its size, and its bytes in one place.
#include "common/pieces.h"

#include "support/catch.h"

#include <array>
#include <string>

namespace pieces_test {

using plexus::module::copy_pieces;
using plexus::module::size_of;

TEST_CASE("the pieces of a message are copied one behind the other, and empty ones may be null") {
    const std::array<plexus_view, 4> pieces{{{"head", 4}, {nullptr, 0}, {" and ", 5}, {"rest", 4}}};
    CHECK(size_of(pieces) == 13);
    std::string out(16, '.');
    auto* const to = reinterpret_cast<std::byte*>(out.data());
    CHECK(copy_pieces(to, pieces) == to + 13);
    CHECK(out == "head and rest...");
}

TEST_CASE("a message without pieces is empty") {
    CHECK(size_of({}) == 0);
    std::byte untouched{7};
    CHECK(copy_pieces(&untouched, {}) == &untouched);
    CHECK(untouched == std::byte{7});
}

} // namespace pieces_test
