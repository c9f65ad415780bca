// SPDX-License-Identifier: BSD-3-Clause
// A secret behaves as bytes do, is in no core file, and is wiped where it was.
#include "base/secret.h"

#include "support/catch.h"
#include "support/core_file.h"
#include "support/eventually.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace secret_test {

using namespace plexus;
using namespace plexus::testing;

using Bytes = std::array<std::uint8_t, 32>;
Bytes in_ordinary_memory; // not of this file alone: the compiler leaves out what nobody could read

namespace {

/// Bytes that are nowhere in the program as they are: made one by one.
Bytes pattern(unsigned seed) {
    Bytes bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>((i + 1) * seed % 251);
    return bytes;
}

/// Whether the mapping with this address is left out of core files: the flag "dd" of /proc/PID/smaps.
bool is_left_out(const void* address) {
    std::ifstream maps("/proc/self/smaps");
    bool is_inside = false;
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0;
        unsigned long end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
            is_inside = reinterpret_cast<std::uintptr_t>(address) >= begin &&
                        reinterpret_cast<std::uintptr_t>(address) < end;
        else if (is_inside && line.starts_with("VmFlags:"))
            return line.find(" dd") != line.npos;
    }
    return false;
}

} // namespace

TEST_CASE("a secret is what it was made of, and wipes that") {
    Bytes from = pattern(7);
    const Secret<32> secret(std::move(from));
    CHECK(std::equal(secret.begin(), secret.end(), pattern(7).begin()));
    CHECK(from == Bytes{});
    CHECK(Secret<32>() == Secret<32>(Bytes{}));
}

TEST_CASE("copies of a secret are equal to it and independent of it") {
    const Secret<32> secret(pattern(7));
    Secret<32> copy = secret;
    CHECK(copy == secret);
    copy[31] = static_cast<std::uint8_t>(copy[31] ^ 1);
    CHECK_FALSE(copy == secret);
    copy = secret;
    CHECK(copy == secret);
    CHECK(copy.data() != secret.data());
}

TEST_CASE("the memory of a secret, and of each copy, is left out of core files") {
    const Secret<32> secret(pattern(7));
    const Secret<32> copy = secret;
    const auto plain = std::make_unique<Bytes>();
    CHECK(is_left_out(secret.data()));
    CHECK(is_left_out(copy.data()));
    CHECK_FALSE(is_left_out(plain.get()));
}

TEST_CASE("a core file has what lies in ordinary memory, and no secret") {
    if (kSanitized) SKIP_TEST("a sanitizer writes no core file");
    const TmpDir folder;
    const auto core = core_file_of(folder, [] {
        in_ordinary_memory = pattern(11);
        static Secret<32>* const secret = new Secret<32>;
        for (std::size_t i = 0; i < secret->size(); ++i)
            (*secret)[i] = static_cast<std::uint8_t>((i + 1) * 13 % 251);
    });
    if (!core) SKIP_TEST("this machine writes core files elsewhere");
    CHECK(holds(*core, pattern(11)));
    CHECK_FALSE(holds(*core, pattern(13)));
}

} // namespace secret_test
