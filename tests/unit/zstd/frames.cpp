// SPDX-License-Identifier: BSD-3-Clause
// The prefix of a frame: what is written is read again, and what makes no sense is refused.
#include "zstd/frame.h"

#include "sources.h"
#include "support/catch.h"

#include <array>
#include <string>

namespace frames_test {

using namespace plexus::testing;
using namespace plexus::zstd;

namespace {

std::string fault(const Prefix& written, std::uint64_t frame_size, std::uint64_t most = 0) {
    std::array<std::byte, kPrefix> bytes{};
    write_prefix(bytes.data(), written);
    Prefix read;
    const char* const wrong = read_prefix(bytes, frame_size, most, read);
    return wrong == nullptr ? "" : wrong;
}

} // namespace

TEST_CASE("a prefix has these bytes, and is read as it was written") {
    std::array<std::byte, kPrefix> bytes{};
    write_prefix(bytes.data(), {0x0102030405, 64, true});
    constexpr std::array<int, kPrefix> kGolden{0xb5, 'p', 'l', 'x', 'z', 's', 't', 0x91,
                                               5,    4,   3,   2,   1,   0,   0,   0xc0};
    for (std::size_t i = 0; i < kPrefix; ++i) CHECK(static_cast<int>(bytes[i]) == kGolden[i]);
    Prefix read;
    CHECK(read_prefix(bytes, kPrefix + 0x0102030405, 0, read) == nullptr);
    CHECK(read.size == 0x0102030405);
    CHECK(read.head == 64);
    CHECK(read.is_stored);
}

TEST_CASE("prefixes that make no sense are refused with a reason") {
    CHECK(fault({1000, 24, false}, 500) == "");
    CHECK(fault({1000, 24, false}, 500, 1000) == "");
    CHECK(fault({1000, 24, false}, 500, 999) == "it claims more bytes than this link permits");
    CHECK(fault({1000, 65, false}, 500) == "its head is longer than a head may be");
    CHECK(fault({20, 24, false}, 40) == "its head is longer than a head may be");
    CHECK(fault({1000, 24, false}, kPrefix + 23) == "it ends within its head");
    CHECK(fault({1000, 24, false}, kPrefix + 1001) == "it is longer than what it claims to hold");
    CHECK(fault({1000, 24, true}, kPrefix + 999) == "it is shorter than what it claims to hold");
    CHECK(fault({1000, 24, true}, kPrefix + 1000) == "");
}

TEST_CASE("a message is read across its pieces") {
    const Bytes bytes = noise(100);
    const plexus_view pieces[] = {
        {bytes.data(), 3}, {nullptr, 0}, {bytes.data() + 3, 60}, {bytes.data() + 63, 37}};
    CHECK(size_of(pieces) == 100);
    CHECK(head_of(pieces) == 3);
    for (std::size_t from = 0; from <= 100; ++from) {
        Bytes out(100 - from);
        copy_out(pieces, from, out);
        CHECK(std::equal(out.begin(), out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(from)));
    }
}

TEST_CASE("the mark is found across pieces, and only at the beginning") {
    Bytes bytes(32);
    std::memcpy(bytes.data(), kMark.data(), kMark.size());
    const plexus_view cut[] = {{bytes.data(), 5}, {bytes.data() + 5, 27}};
    CHECK(begins_with_mark(cut));
    const plexus_view later[] = {{bytes.data() + 1, 31}};
    CHECK_FALSE(begins_with_mark(later));
    const plexus_view few[] = {{bytes.data(), 7}};
    CHECK_FALSE(begins_with_mark(few));
}

} // namespace frames_test
