// SPDX-License-Identifier: BSD-3-Clause
// When shared memory applies, and why not.
#include "support/catch.h"

#include "shm/descriptor.h"

#include <string>

namespace criterion_test {

using namespace plexus::shm;

namespace {

Descriptor somewhere() {
    Descriptor d;
    d.place.boot.fill(7);
    d.place.network_namespace = 0x1234567890;
    d.user = 1000;
    d.socket.fill(9);
    return d;
}

} // namespace

TEST_CASE("a descriptor survives its bytes") {
    const Descriptor before = somewhere();
    const auto bytes = encode(before);
    const auto after = decode({bytes.data(), bytes.size()});
    REQUIRE(after);
    CHECK(after->place.boot == before.place.boot);
    CHECK(after->place.network_namespace == before.place.network_namespace);
    CHECK(after->user == before.user);
    CHECK(after->socket == before.socket);
}

TEST_CASE("descriptors that are cut, too long, or of another version are damaged") {
    auto bytes = encode(somewhere());
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(decode({bytes.data(), size}));
    auto longer = bytes;
    longer.push_back(0);
    CHECK_FALSE(decode({longer.data(), longer.size()}));
    ++bytes[0];
    CHECK_FALSE(decode({bytes.data(), bytes.size()}));
}

TEST_CASE("the reason says what differs, the farthest thing first") {
    const Descriptor here = somewhere();
    Descriptor there = here;
    there.socket.fill(1);
    CHECK(why_not(here, there) == nullptr);
    there.user = 0;
    CHECK(std::string(why_not(here, there)) == "other user");
    there.place.network_namespace = 1;
    CHECK(std::string(why_not(here, there)) == "other network namespace on this host");
    there.place.boot.fill(8);
    CHECK(std::string(why_not(here, there)) == "other host");
}

TEST_CASE("a boot that nobody knows is not the same boot") {
    Descriptor here = somewhere();
    here.place.boot.fill(0);
    CHECK(why_not(here, here) != nullptr);
}

} // namespace criterion_test
