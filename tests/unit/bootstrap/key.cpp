// SPDX-License-Identifier: BSD-3-Clause
// Keys: known answers for the proof, and which files are good ones.
#include "bootstrap/key.h"
#include "support/catch.h"
#include "support/tmpdir.h"

#include <sys/stat.h>

using namespace plexus;
using namespace plexus::bootstrap;
using plexus::testing::TmpDir;

namespace {

std::string private_file(const TmpDir& folder, const char* name, const std::string& text) {
    const std::string path = folder.file(name, text);
    ::chmod(path.c_str(), 0600);
    return path;
}

} // namespace

TEST_CASE("a proof is the HMAC-SHA256 that others compute") {
    Key key; // RFC 4231, test case 3, whose 20-byte key is padded with zeros: the same HMAC
    for (std::size_t i = 0; i < 20; ++i) key.bytes[i] = 0xaa;
    const std::vector<std::byte> text(50, std::byte{0xdd});
    CHECK(to_hex(prove(key, text)) == "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

TEST_CASE("a key survives the way through hexadecimal digits") {
    const Key key = random_key();
    const auto back = key_from_hex(to_hex(key.bytes));
    REQUIRE(back);
    CHECK(*back == key);
    CHECK(random_key() != key);
}

TEST_CASE("digits that are no key are refused without showing them") {
    CHECK(key_from_hex("").status() == Status::bad_config);
    CHECK(key_from_hex(std::string(63, 'a')).status() == Status::bad_config);
    CHECK(key_from_hex(std::string(65, 'a')).status() == Status::bad_config);
    std::string text(64, 'a');
    text[10] = 'g';
    const auto refused = key_from_hex(text);
    REQUIRE(refused.status() == Status::bad_config);
    CHECK(refused.failure().why.find("digit 11") != std::string::npos);
    CHECK(refused.failure().why.find("aaaa") == std::string::npos);
}

TEST_CASE("a key file is hashed as it is") {
    const TmpDir folder;
    const auto one = key_from_file(private_file(folder, "one", "0123456789abcdef"));
    const auto same = key_from_file(private_file(folder, "same", "0123456789abcdef"));
    const auto other = key_from_file(private_file(folder, "other", "0123456789abcdef\n"));
    REQUIRE(one);
    REQUIRE(same);
    REQUIRE(other);
    CHECK(*one == *same);
    CHECK(*one != *other);
    CHECK(to_hex(one->bytes) == "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f");
}

TEST_CASE("a key file that others may read is refused") {
    const TmpDir folder;
    const std::string path = private_file(folder, "key", std::string(32, 'x'));
    for (const mode_t mode : {0640u, 0604u, 0620u, 0602u, 0644u}) {
        ::chmod(path.c_str(), mode);
        const auto refused = key_from_file(path);
        REQUIRE(refused.status() == Status::bad_config);
        CHECK(refused.failure().why.find("chmod 600") != std::string::npos);
    }
    ::chmod(path.c_str(), 0400);
    CHECK(key_from_file(path));
}

TEST_CASE("a key file that is missing, short, huge or no file is refused by name") {
    const TmpDir folder;
    const auto missing = key_from_file(folder / "none");
    REQUIRE(missing.status() == Status::not_found);
    CHECK(missing.failure().why.find("none") != std::string::npos);
    CHECK(key_from_file(private_file(folder, "short", "fifteen bytes..")).status() == Status::bad_config);
    CHECK(key_from_file(private_file(folder, "huge", std::string(1024 * 1024 + 1, 'x'))).status() ==
          Status::bad_config);
    CHECK(key_from_file(folder.path()).status() == Status::bad_config);
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(key_from_file(pipe).status() == Status::bad_config); // and does not wait for a writer
}
