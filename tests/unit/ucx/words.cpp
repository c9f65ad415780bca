// SPDX-License-Identifier: BSD-3-Clause
// Names and variables: reading trusts nothing.
#include "support/catch.h"
#include "ucx.h"

#include "ucx/names.h"
#include "ucx/options.h"

using namespace plexus::testing;
namespace method = plexus::ucx;

TEST_CASE("a list of transports is read as UCX reads it") {
    CHECK(method::unknown_transport({"^tcp", "posix:aux", "\\rc_x"}).empty());
    CHECK(method::unknown_transport({"tcp", "nope"}) == "nope");
}

TEST_CASE("UCX's list of resources is read") {
    const auto read = method::parse_resources("# UCP context\n#      md 0  :  tcp\n#      md 1  :  shm/x\n"
                                              "#      resource 0  :  md 0  dev 0  flags -- tcp/eth0\n"
                                              "#      resource 1  :  md 1  dev 1  flags -- posix/memory  \n");
    REQUIRE(read.size() == 2);
    CHECK(read[0].transport == "tcp");
    CHECK(read[0].device == "eth0");
    CHECK(read[1].device == "memory");
}

TEST_CASE("transports stay on the host where all that are named do") {
    method::Options options;
    CHECK_FALSE(options.on_host_only()); // fabrics
    options.tls = {"posix", "cma"};
    CHECK(options.on_host_only());
    options.tls = {"posix", "tcp"};
    CHECK_FALSE(options.on_host_only());
}

TEST_CASE("variables are pairs with semicolons between") {
    const auto read = method::parse_variables(" UCX_A=1 ; B_2 = x,y;");
    REQUIRE(read.has_value());
    CHECK(*read == method::Variables{{"A", "1"}, {"B_2", "x,y"}});
    CHECK_FALSE(method::parse_variables("A").has_value());
    CHECK_FALSE(method::parse_variables("a=1").has_value());
    CHECK_FALSE(method::parse_variables("=1").has_value());
    CHECK_FALSE(method::parse_variables("UCX_=1").has_value());
    CHECK(*method::parse_variables(" \t; A = 1 \t; ") == method::Variables{{"A", "1"}});
    CHECK(method::parse_variables("")->empty());
}
