// SPDX-License-Identifier: BSD-3-Clause
// Numbers and records of descriptors and handshakes: what is read is what was put, and nothing behind the
// end.
#include "common/bytes.h"

#include "support/catch.h"

namespace bytes_test {

using namespace plexus::module;

TEST_CASE("numbers are put lowest byte first, and are read again in any length") {
    std::vector<std::uint8_t> bytes;
    put(bytes, 0x0102, 2);
    put(bytes, 0xfedcba9876543210, 8);
    put(bytes, 0x01fe, 1); // the lowest byte of it
    CHECK(std::vector(bytes.begin(), bytes.begin() + 2) == std::vector<std::uint8_t>{2, 1});
    ByteReader in(bytes);
    CHECK(in.number(2) == 0x0102);
    CHECK(in.number(8) == 0xfedcba9876543210);
    CHECK_FALSE(in.at_end());
    CHECK(in.number(1) == 0xfe);
    CHECK(in.at_end());
}

TEST_CASE("records and texts are read as they were put, into bytes of either kind") {
    const std::array<std::uint8_t, 3> record{1, 2, 255};
    std::vector<std::byte> bytes;
    put(bytes, record);
    put(bytes, 'h', 1);
    put(bytes, 'i', 1);
    put(bytes, record);
    ByteReader in(std::span<const std::byte>{bytes});
    CHECK(in.array<3>() == record);
    CHECK(in.text(2) == "hi");
    std::array<std::uint8_t, 3> again{};
    in.fill(again);
    CHECK(again == record);
    CHECK(in.at_end());
}

TEST_CASE("after a read past the end everything is zero or empty, also what is still there") {
    const std::array<std::uint8_t, 4> four{1, 2, 3, 4};
    ByteReader in(plexus_view{four.data(), four.size()});
    CHECK(in.number(1) == 1);
    CHECK(in.number(8) == 0);
    CHECK_FALSE(in.ok());
    CHECK_FALSE(in.at_end());
    CHECK(in.number(1) == 0);
    CHECK(in.take(1).empty());
    CHECK(in.take(0).empty());
    CHECK(in.text(1).empty());
    std::array<std::uint8_t, 2> kept{7, 7};
    in.fill(kept);
    CHECK(kept == std::array<std::uint8_t, 2>{7, 7});
    CHECK(in.array<2>() == std::array<std::uint8_t, 2>{});

    ByteReader nothing(plexus_view{nullptr, 0});
    CHECK(nothing.at_end());
    CHECK(nothing.take(SIZE_MAX).empty());
    CHECK_FALSE(nothing.ok());
}

} // namespace bytes_test
