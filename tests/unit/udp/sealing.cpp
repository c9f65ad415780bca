// SPDX-License-Identifier: BSD-3-Clause
// What is sealed is opened by the same key and as it was alone.
#include "udp/sealing.h"

#include "support/catch.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace sealing_test {

using namespace plexus::udp;

namespace {

constexpr std::string_view kText = "a reading of the sensor";
const Key kKey{1, 2, 3};

std::vector<std::uint8_t> sealed(std::uint64_t number = 1) {
    Cipher cipher(Cipher::Use::seal, kKey);
    REQUIRE(cipher.usable());
    std::vector<std::uint8_t> out(kText.size() + kOverhead);
    const plexus_view pieces[] = {{kText.data(), 5}, {nullptr, 0}, {kText.data() + 5, kText.size() - 5}};
    REQUIRE(cipher.seal({Kind::sealed, 77, number}, Content::message, pieces, out.data()));
    return out;
}

// What it holds, or "forged".
std::string opened(const std::vector<std::uint8_t>& bytes, const Key& key = kKey) {
    Cipher cipher(Cipher::Use::open, key);
    std::vector<std::uint8_t> plain(bytes.size());
    const Bytes rest = Bytes(bytes).subspan(Header::kBytes);
    if (!cipher.open(bytes.data(), rest, plain.data())) return "forged";
    return {plain.begin() + 1, plain.begin() + static_cast<std::ptrdiff_t>(rest.size() - kTagBytes)};
}

} // namespace

TEST_CASE("what was sealed is opened, and travels as other bytes") {
    const auto bytes = sealed();
    CHECK(opened(bytes) == kText);
    const std::string_view seen(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    CHECK(seen.find("sensor") == std::string_view::npos);
    const auto next = sealed(2); // not only its tag is another
    CHECK(!std::equal(next.begin() + Header::kBytes, next.end() - kTagBytes, bytes.begin() + Header::kBytes));
}

TEST_CASE("a change of any bit, of the header too, is found, and so is another key") {
    const auto bytes = sealed();
    for (std::size_t at = 0; at < bytes.size(); ++at)
        for (const unsigned bit : {1U, 128U}) {
            auto changed = bytes;
            changed[at] = static_cast<std::uint8_t>(changed[at] ^ bit);
            if (opened(changed) != "forged") FAIL("byte " << at);
        }
    CHECK(opened(bytes, Key{1, 2, 4}) == "forged");
    auto cut = bytes;
    cut.pop_back();
    CHECK(opened(cut) == "forged");
}

TEST_CASE("one cipher goes on after what was forged") {
    Cipher cipher(Cipher::Use::open, kKey);
    auto bytes = sealed();
    std::vector<std::uint8_t> plain(bytes.size());
    const Bytes rest = Bytes(bytes).subspan(Header::kBytes);
    bytes.back() ^= 1;
    CHECK(!cipher.open(bytes.data(), rest, plain.data()));
    bytes.back() ^= 1;
    CHECK(cipher.open(bytes.data(), rest, plain.data()));
}

} // namespace sealing_test
