// SPDX-License-Identifier: BSD-3-Clause
// The published answers of SHA-256, HMAC-SHA256 and scrypt, and random bytes.
#include "base/crypto.h"

#include "support/catch.h"
#include "support/eventually.h"
#include "support/process.h"

#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace crypto_test {

using namespace plexus;
using namespace plexus::testing;
using namespace std::chrono_literals;

namespace {

std::string hex(const crypto::Digest& digest) {
    std::string text;
    for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
    return text;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

} // namespace

TEST_CASE("SHA-256 of FIPS 180-2") {
    CHECK(hex(crypto::sha256(bytes_of("abc"))) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hex(crypto::sha256({})) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("HMAC-SHA256 of RFC 4231") {
    const std::string_view text = "what do ya want for nothing?";
    CHECK(hex(crypto::hmac_sha256(bytes_of("Jefe"), std::as_bytes(std::span(text)))) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    const std::vector<std::uint8_t> long_key(131, 0xaa);
    const std::string_view more = "Test Using Larger Than Block-Size Key - Hash Key First";
    CHECK(hex(crypto::hmac_sha256(long_key, std::as_bytes(std::span(more)))) ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("scrypt of RFC 7914, as far as a digest goes") {
    CHECK(hex(crypto::scrypt({}, {}, 16, 1)) ==
          "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442");
}

TEST_CASE("random bytes fill all of their place, whatever its size, and no more") {
    for (std::size_t size = 1; size <= 300; size += size < 40 ? 1 : 37) {
        std::vector<std::uint8_t> seen(size);
        for (int round = 0; round < 20; ++round) { // a byte is 0 by chance once in 256 times
            std::vector<std::uint8_t> bytes(size + 1);
            crypto::fill_random(bytes.data(), size);
            for (std::size_t i = 0; i < size; ++i) seen[i] |= bytes[i];
            CHECK(bytes[size] == 0);
        }
        CAPTURE(size);
        CHECK(std::none_of(seen.begin(), seen.end(), [](std::uint8_t byte) { return byte == 0; }));
    }
}

TEST_CASE("a child that is forked beside a thread that hashes can hash") {
    if (kSanitized) SKIP_TEST("the sanitizers' own locks do not survive a fork beside threads");
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) (void)crypto::sha256(bytes_of("abc"));
    });
    for (int round = 0; round < 100; ++round) {
        Process child([&](Channel&) { return crypto::sha256(bytes_of("abc"))[0] == 0xba ? 0 : 1; });
        CHECK(child.code(20s) == 0);
    }
    stop = true;
    other.join();
}

} // namespace crypto_test
