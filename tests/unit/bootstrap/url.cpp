// SPDX-License-Identifier: BSD-3-Clause
// Addresses of directories as people write them.
#include "bootstrap/url.h"
#include "support/catch.h"

#include <algorithm>

namespace url_test {

using namespace plexus;
using namespace plexus::bootstrap;

TEST_CASE("names, IPv4 and IPv6 addresses are understood and written back") {
    for (const char* text : {"plexus://127.0.0.1:7117", "plexus://[::1]:7117", "plexus://node-3.example:1",
                             "plexus://[fe80::1%eth0]:65535", "plexus://localhost:0"}) {
        const auto url = parse_url(text);
        REQUIRE(url);
        CHECK(to_string(*url) == text);
    }
    const auto url = parse_url("plexus://[::1]:7117/");
    REQUIRE(url);
    CHECK(url->host == "::1");
    CHECK(url->port == 7117);
}

TEST_CASE("what is no URL is refused with a good example") {
    for (const char* text : {"",
                             "localhost:1",
                             "http://localhost:1",
                             "plexus://",
                             "plexus://localhost",
                             "plexus://:1",
                             "plexus://localhost:",
                             "plexus://localhost:x",
                             "plexus://localhost:65536",
                             "plexus://localhost:-1",
                             "plexus://::1:7",
                             "plexus://[::1:7",
                             "plexus://[::1]",
                             "plexus://[]:7",
                             "plexus://[%eth0]:7",
                             "plexus://[localhost]:7",
                             "plexus://a b:7",
                             "plexus://a/b:7",
                             "plexus://localhost:1x",
                             "plexus://localhost:1//"}) {
        const auto url = parse_url(text);
        INFO(text);
        REQUIRE(url.status() == Status::bad_argument);
        CHECK(url.failure().why.find("plexus://127.0.0.1:7117") != std::string::npos);
    }
    CHECK(parse_url("plexus://" + std::string(256, 'a') + ":1").status() == Status::bad_argument);
    const auto bare = parse_url("plexus://::1:7");
    CHECK(bare.failure().why.find("goes in brackets") != std::string::npos);
}

TEST_CASE("addresses resolve to themselves and unknown hosts to a sentence") {
    const auto v4 = resolve(Url{"127.0.0.1", 80});
    REQUIRE(v4);
    CHECK(v4->front().address().is_loopback());
    CHECK(v4->front().port() == 80);
    const auto nobody = resolve(Url{"no-such-host.invalid", 80});
    REQUIRE(nobody.status() == Status::not_found);
    CHECK(nobody.failure().why.find("no-such-host.invalid") != std::string::npos);
}

TEST_CASE("methods have to listen where a directory is served, loopback apart") {
    CHECK(interfaces_of("plexus://0.0.0.0:7") == "all");
    CHECK(interfaces_of("plexus://[::]:7") == "all");
    CHECK(interfaces_of("plexus://192.0.2.7:0") == "loopback, 192.0.2.7");
    CHECK(interfaces_of("plexus://[2001:db8::7]:0") == "loopback, 2001:db8::7");
    for (const char* text : {"plexus://127.0.0.1:7", "plexus://127.0.0.9:7", "plexus://[::1]:7",
                             "plexus://localhost:7", "plexus://no-such-host.invalid:7", "", "all"}) {
        CAPTURE(text);
        CHECK(interfaces_of(text).empty());
    }
}

} // namespace url_test
