// SPDX-License-Identifier: BSD-3-Clause
// The descriptor: what it says, who may have made it, and whom it reaches.
#include "support/catch.h"
#include "ucx.h"

#include "ucx/descriptor.h"

namespace descriptor_test {

using namespace plexus::testing;
using Catch::Matchers::Contains;
using plexus::ucx::Descriptor;

namespace {

Descriptor sample(std::vector<std::string> transports) {
    Descriptor out;
    out.where.boot = {1, 2, 3};
    out.where.network_namespace = 7;
    out.library = {1, 13};
    out.liveness = {9};
    out.transports = std::move(transports);
    out.address = {5, 6, 7, 8};
    return out;
}

plexus_view view_of(const std::vector<std::uint8_t>& bytes) { return {bytes.data(), bytes.size()}; }

} // namespace

TEST_CASE("a descriptor says what was put in, and who has the key can tell who made it") {
    BareHost host(ucx(), with({{"tls", "tcp"}}));
    BareOptions other = with({{"tls", "tcp"}});
    other.key = {9, 9, 9};
    BareHost stranger(ucx(), other);

    Descriptor made = sample({"tcp", "posix"});
    made.leaves_host = true;
    made.endpoints_fail = false;
    const auto bytes = made.encode(host.table());
    const auto read = Descriptor::decode(view_of(bytes));
    REQUIRE(read.has_value());
    CHECK(read->transports == made.transports);
    CHECK(read->address == made.address);
    CHECK(read->liveness == made.liveness);
    CHECK(read->leaves_host);
    CHECK_FALSE(read->endpoints_fail);
    CHECK(Descriptor::sealed(host.table(), view_of(bytes)));
    CHECK_FALSE(Descriptor::sealed(stranger.table(), view_of(bytes)));
}

TEST_CASE("a descriptor that was cut or changed is none") {
    BareHost host(ucx(), with({{"tls", "tcp"}}));
    const auto bytes = sample({"tcp"}).encode(host.table());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(Descriptor::decode({bytes.data(), size}).has_value());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        auto changed = bytes;
        changed[at] ^= 0x40;
        CHECK((!Descriptor::decode(view_of(changed)).has_value() ||
               !Descriptor::sealed(host.table(), view_of(changed))));
    }
}

TEST_CASE("who can't be reached is told why") {
    const Descriptor here = sample({"tcp", "posix"});
    Descriptor there = here;
    there.address = {1};
    CHECK(there.why_not(here) == "");

    there.library.major = 2;
    CHECK_THAT(there.why_not(here), Contains("UCX 2.13 there, UCX 1.13 here"));
    there.library = {1, 17};
    CHECK(there.why_not(here) == "");

    there.where.boot = {4};
    CHECK_THAT(there.why_not(here), Contains("other host, and only loopback devices"));
    there.leaves_host = true;
    CHECK_THAT(there.why_not(here), Contains("loopback"));
    Descriptor wide = here;
    wide.leaves_host = true;
    CHECK(there.why_not(wide) == "");

    there.transports = {"posix"};
    CHECK_THAT(there.why_not(wide), Contains("no common transport that leaves one"));
    there.transports = {"rc_mlx5"};
    CHECK_THAT(there.why_not(wide), Contains("here tcp,posix; there rc_mlx5"));
}

} // namespace descriptor_test
