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

TEST_CASE("an accident to a descriptor is seen without the key, but for one to its seal") {
    BareHost host(ucx(), with({{"tls", "tcp"}}));
    const auto bytes = sample({"tcp"}).encode(host.table());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        CAPTURE(at);
        auto changed = bytes;
        changed[at] ^= 0x40;
        const bool in_seal = at >= bytes.size() - Descriptor::kSealBytes;
        CHECK(Descriptor::decode(view_of(changed)).has_value() == in_seal);
        if (in_seal) CHECK_FALSE(Descriptor::sealed(host.table(), view_of(changed)));
    }
}

TEST_CASE("a descriptor holds so many transports, names as long, and no more bytes than it may have") {
    BareHost host(ucx(), with({{"tls", "tcp"}}));
    std::vector<std::string> many;
    for (int each = 0; each < 40; ++each) many.push_back("t" + std::to_string(each));
    const auto read = Descriptor::decode(view_of(sample(many).encode(host.table())));
    REQUIRE(read.has_value());
    many.resize(Descriptor::kMostTransports);
    CHECK(read->transports == many);
    const auto longer = Descriptor::decode(view_of(sample({std::string(20, 'x')}).encode(host.table())));
    REQUIRE(longer.has_value());
    CHECK(longer->transports == std::vector<std::string>{std::string(15, 'x')});
    Descriptor large = sample({"tcp"});
    large.address.resize(900);
    const auto most = large.encode(host.table());
    REQUIRE_FALSE(most.empty());
    large.address.resize(900 + Descriptor::kMostBytes - most.size());
    CHECK(large.encode(host.table()).size() == Descriptor::kMostBytes);
    large.address.push_back(1);
    CHECK(large.encode(host.table()).empty());
    Descriptor nowhere = sample({"tcp"});
    nowhere.address.clear();
    CHECK_FALSE(Descriptor::decode(view_of(nowhere.encode(host.table()))).has_value());
}

TEST_CASE("resources tell which transports there are, and whether one of them leaves the host") {
    using plexus::ucx::Resource;
    const auto described = [](std::vector<Resource> resources) {
        Descriptor out;
        describe_resources(out, resources);
        return out;
    };
    const Descriptor on_host =
        described({{"posix", "memory"}, {"cma", "memory"}, {"tcp", "lo"}, {"posix", "memory"}});
    CHECK(on_host.transports == std::vector<std::string>{"posix", "cma", "tcp"});
    CHECK_FALSE(on_host.leaves_host);
    const Descriptor wide = described({{"tcp", "lo"}, {"tcp", "eth0"}});
    CHECK(wide.transports == std::vector<std::string>{"tcp"});
    CHECK(wide.leaves_host);
    std::vector<Resource> many;
    for (int each = 0; each < 40; ++each) many.push_back({"t" + std::to_string(each), "lo"});
    CHECK(described(many).transports.size() == Descriptor::kMostTransports);
}

TEST_CASE("memory of a host reaches as far as the end of a process is noticed") {
    const Descriptor here = sample({"posix"});
    Descriptor there = here;
    there.address = {1};
    CHECK(there.why_not(here) == "");
    there.where.network_namespace = 8;
    CHECK_THAT(there.why_not(here), Contains("another network namespace, from which the end"));
    there.transports = {"posix", "tcp"};
    there.leaves_host = true;
    Descriptor loop = here;
    loop.transports = {"posix", "tcp"};
    CHECK_THAT(there.why_not(loop), Contains("only by loopback, and in another network namespace"));
    loop.leaves_host = true;
    CHECK(there.why_not(loop) == "");
    for (const char* alone : {"cma", "self"}) { // neither carries a message to another process
        Descriptor one = sample({alone});
        Descriptor other = one;
        other.address = {1};
        CHECK_THAT(other.why_not(one), Contains("no common transport"));
        CHECK(one.why_not(one) == ""); // itself
    }
    there = here;
    there.address = {1};
    there.endpoints_fail = !here.endpoints_fail;
    CHECK_THAT(there.why_not(here), Contains("only one side is set to transports of this host alone"));
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
