// SPDX-License-Identifier: BSD-3-Clause
// Keys: known answers for the proof, and which files are good ones.
#include "bootstrap/key.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/tmpdir.h"

#include <sys/stat.h>
#include <unistd.h>

namespace key_test {

using namespace plexus;
using namespace plexus::bootstrap;
using plexus::testing::expect_warning;
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
    for (const std::size_t at : {std::size_t{10}, std::size_t{11}, std::size_t{63}}) {
        std::string text(64, 'a');
        text[at] = 'g';
        const auto refused = key_from_hex(text);
        REQUIRE(refused.status() == Status::bad_config);
        CHECK(refused.failure().why.find("digit " + std::to_string(at + 1)) != std::string::npos);
        CHECK(refused.failure().why.find("aaaa") == std::string::npos);
    }
}

TEST_CASE("a key file is hashed as it is") {
    const TmpDir folder;
    const std::string text = "0123456789abcdef0123456789abcdef";
    const auto one = key_from_file(private_file(folder, "one", text));
    const auto same = key_from_file(private_file(folder, "same", text));
    const auto other = key_from_file(private_file(folder, "other", text + "\n"));
    REQUIRE(one);
    REQUIRE(same);
    REQUIRE(other);
    CHECK(*one == *same);
    CHECK(*one != *other);
    CHECK(to_hex(one->bytes) == "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9");
}

TEST_CASE("a key file of less than 32 bytes is stretched, and a warning says how to make a good one") {
    const TmpDir folder;
    const auto warning = expect_warning("openssl rand -base64 32");
    const auto key = key_from_file(private_file(folder, "words", "0123456789abcdef"));
    REQUIRE(key);
    // scrypt with N = 16384, r = 8, p = 1 and the salt "plexus key file", as others compute it.
    CHECK(to_hex(key->bytes) == "bdf8994441b12405e8210e468b09c43288bd2c34c0176ad03b8c07de666832e7");
    CHECK(warning.count() == 1);
    CHECK(key_from_file(private_file(folder, "longer", std::string(31, 'x'))));
    CHECK(warning.count() == 2);
    CHECK(warning.lines().back().find((folder / "longer").string()) != std::string::npos);
    CHECK(key_from_file(private_file(folder, "good", std::string(32, 'x'))));
    CHECK(warning.count() == 2);
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

TEST_CASE("a key file of another user is refused, also by root") {
    if (::geteuid() != 0) SKIP_TEST("only root can give a file away");
    const TmpDir folder;
    const std::string path = private_file(folder, "key", std::string(32, 'x'));
    REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
    const auto refused = key_from_file(path);
    REQUIRE(refused.status() == Status::bad_config);
    CHECK(refused.failure().why.find("belongs to another user") != std::string::npos);
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

} // namespace key_test
