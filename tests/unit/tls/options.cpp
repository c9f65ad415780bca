// SPDX-License-Identifier: BSD-3-Clause
// Parameters and files that make no sense are refused by name.
#include "authority.h"
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

namespace options_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;
using Settings = std::map<std::string, std::string>;

namespace {

std::string refusal(Settings settings) {
    const auto expected = expect_warning("");
    try {
        BareHost host(method_of(plexus_passport), {{}, {1, 2, 3}, std::move(settings)});
    } catch (const OpenFailed& failed) {
        CHECK(failed.status == PLEXUS_BAD_CONFIG);
        std::string log;
        for (const std::string& line : failed.log) log += line + "\n";
        return log;
    }
    return "it opened";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("parameters that contradict each other are refused") {
    CHECK(contains(refusal({{"over", "tls"}}), "name of another method"));
    CHECK(contains(refusal({{"port", "soon"}}), "a port from 0 to 65535"));
    CHECK(contains(refusal({{"max_message", "1 KiB"}}), "max_message"));
    CHECK(contains(refusal({{"ca", "ca.pem"}}), "certificate"));
    CHECK(contains(refusal({{"ca", "ca.pem"}, {"certificate", "c.pem"}}), "key"));
    CHECK(contains(refusal({{"certificate", "c.pem"}}), "no ca is given"));
    CHECK(contains(refusal({{"key", "c.key"}}), "no ca is given"));
    CHECK(contains(refusal({{"crl", "c.crl"}}), "no ca is given"));
    CHECK(contains(refusal({{"names", "ocean"}}), "no ca is given"));
    for (const char* key : {"sites", "contexts"}) {
        CHECK(contains(refusal({{key, "a.example=kiel"}}), "no ca is given"));
        for (const char* grants :
             {"kiel", "=kiel", "a.example=", "10.0.0.1=kiel", "*=kiel", "a.example=kiel, oslo"})
            CHECK(contains(refusal({{"ca", "c"}, {"certificate", "c"}, {"key", "c"}, {key, grants}}),
                           "each with = and a"));
    }
    for (const char* names :
         {"10.0.0.1", "ocean, 10.0.0.1", "fe80::1", "a b", "*", "*.", "o*n.example", ".example"})
        CHECK(contains(refusal({{"ca", "c"}, {"certificate", "c"}, {"key", "c"}, {"names", names}}),
                       "*. and the end"));
    CHECK(contains(refusal({{"update_after", "1"}}), "update_after"));
    CHECK(contains(refusal({{"handshake_timeout", "soon"}}), "handshake_timeout"));
}

TEST_CASE("files that can't be used are named, and their content is not shown") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    const Authority::Member member = authority.sign("member.example");
    const Authority::Member other = authority.sign("other.example");
    const auto with = [&](const std::string& key, const std::string& file) {
        Settings settings = authority.settings(member);
        settings[key] = file;
        const std::string said = refusal(settings);
        CAPTURE(said);
        CHECK(contains(said, file));
        CHECK_FALSE(contains(said, "secret"));
    };
    const std::string junk = folder.file("junk.pem", "secret");
    const std::string absent = folder / "absent.pem";
    for (const char* key : {"ca", "certificate", "key", "crl"}) {
        CAPTURE(key);
        with(key, junk);
        with(key, absent);
    }
    with("key", other.key);
    CHECK(contains(refusal([&] {
                       Settings settings = authority.settings(member);
                       settings["key"] = other.key;
                       return settings;
                   }()),
                   "key values mismatch"));
}

TEST_CASE("a private key with a passphrase is refused, and nobody is asked for it") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    Settings settings = authority.settings(authority.sign("member.example"));
    const std::string locked = folder / "locked.key";
    const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    std::FILE* const file = std::fopen(locked.c_str(), "w");
    REQUIRE(file != nullptr);
    unsigned char passphrase[] = "open sesame";
    CHECK(PEM_write_PrivateKey(file, key.get(), EVP_aes_128_cbc(), passphrase, 11, nullptr, nullptr) == 1);
    std::fclose(file);
    settings["key"] = locked;
    CHECK(contains(refusal(settings), locked));
}

} // namespace options_test
