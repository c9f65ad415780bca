// SPDX-License-Identifier: BSD-3-Clause
// What a descriptor says survives its bytes, what is no descriptor is none, and the choice of
// an own address names its reason.
#include "support/catch.h"

#include "libfabric/contacts.h"
#include "libfabric/descriptor.h"

namespace descriptor_test {

using namespace plexus::libfabric;

namespace {

Address on(const std::string& provider, const std::string& fabric, Reach reach = Reach::fabric) {
    return {provider, fabric, 2, 7, reach, Bytes(16, std::byte{5})};
}

Descriptor somewhere(Address address) {
    Descriptor out;
    out.where.boot.fill(7);
    out.where.network_namespace = 0x1234567890;
    out.user = 1000;
    out.shared_folder = 25;
    out.page_address = {4711, 8, 10, {}};
    out.page_address.cookie.fill(9);
    out.where.process_namespace = 4'026'531'836;
    out.address = std::move(address);
    return out;
}

std::string obstacle(const Descriptor& mine, const Descriptor& theirs) {
    std::string why;
    return choose(mine, std::span(&mine.address, 1), theirs, why) ? "" : why;
}

} // namespace

TEST_CASE("a descriptor survives its bytes") {
    const Descriptor before = somewhere(on("verbs;ofi_rxm", "IB-0xfe80"));
    const auto after = Descriptor::decode(before.encode());
    REQUIRE(after);
    CHECK(after->where.boot == before.where.boot);
    CHECK(after->where.network_namespace == before.where.network_namespace);
    CHECK(after->user == before.user);
    CHECK(after->shared_folder == before.shared_folder);
    CHECK(after->page_address.process == before.page_address.process);
    CHECK(after->page_address.page == before.page_address.page);
    CHECK(after->page_address.ring == before.page_address.ring);
    CHECK(after->page_address.cookie == before.page_address.cookie);
    CHECK(after->where.process_namespace == before.where.process_namespace);
    CHECK(after->address == before.address);
}

TEST_CASE("a descriptor that is cut, longer, or of another version is none") {
    const Bytes good = somewhere(on("tcp;ofi_rxm", "192.0.2.0/24")).encode();
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK_FALSE(Descriptor::decode(ByteView(good).first(size)));
    Bytes longer = good;
    longer.push_back(std::byte{0});
    CHECK_FALSE(Descriptor::decode(longer));
    Bytes other = good;
    other[0] = std::byte{1};
    CHECK_FALSE(Descriptor::decode(other));
}

TEST_CASE("a reach that does not exist, and a name that is empty or too long, make no descriptor") {
    CHECK(Descriptor::decode(somewhere(on("shm", "shm", Reach::host)).encode()));
    CHECK_FALSE(Descriptor::decode(somewhere(on("shm", "shm", static_cast<Reach>(3))).encode()));
    Address address = on("tcp", "192.0.2.0/24");
    address.name.clear();
    CHECK_FALSE(Descriptor::decode(somewhere(address).encode()));
    address.name.resize(Address::kMostName + 1);
    CHECK_FALSE(Descriptor::decode(somewhere(address).encode()));
}

TEST_CASE("the file of an address of the shm provider is one of its folder, or none") {
    const auto file_of = [](std::string_view text) {
        const auto bytes = std::as_bytes(std::span(text));
        return shared_file_of({bytes.begin(), bytes.end()});
    };
    CHECK(file_of("fi_shm://4711:0:1") == "/4711:0:1");
    CHECK(file_of({"fi_shm://4711:0:1\0\0more", 23}) == "/4711:0:1");
    CHECK(file_of("fi_shm://../4711") == "");
    CHECK(file_of("fi_shm://") == "");
    CHECK(file_of("4711:0:1") == "");
}

TEST_CASE("texts that would spoil a sentence make no descriptor") {
    CHECK_FALSE(Descriptor::decode(somewhere(on("tcp\n", "192.0.2.0/24")).encode()));
    CHECK_FALSE(Descriptor::decode(somewhere(on("", "192.0.2.0/24")).encode()));
    CHECK_FALSE(Descriptor::decode(somewhere(on("tc p", "192.0.2.0/24")).encode()));
    CHECK_FALSE(Descriptor::decode(somewhere(on("tcp", std::string(65, 'x'))).encode()));
}

TEST_CASE("a descriptor has at most 1,024 bytes") {
    Address longest = on(std::string(Address::kMostText, 'p'), std::string(Address::kMostText, 'f'));
    longest.name.resize(Address::kMostName);
    const Bytes bytes = somewhere(longest).encode();
    CHECK(bytes.size() <= 1024);
    CHECK(Descriptor::decode(bytes));
}

TEST_CASE("the own address on the same provider and fabric is taken") {
    const std::vector<Address> mine{on("tcp;ofi_rxm", "192.0.2.0/24"), on("verbs;ofi_rxm", "IB-1")};
    const Descriptor here = somewhere(Address{});
    std::string why;
    CHECK(choose(here, mine, somewhere(on("verbs;ofi_rxm", "IB-1")), why) == std::size_t{1});
    CHECK(choose(here, mine, somewhere(on("tcp;ofi_rxm", "192.0.2.0/24")), why) == std::size_t{0});
    CHECK_FALSE(choose(here, mine, somewhere(on("verbs;ofi_rxm", "IB-2")), why));
    CHECK(why == "verbs;ofi_rxm: fabric IB-2 there, IB-1 here");
    CHECK_FALSE(choose(here, mine, somewhere(on("shm", "shm", Reach::host)), why));
    CHECK(why == "no common provider: shm there, tcp;ofi_rxm, verbs;ofi_rxm here");
}

TEST_CASE("why none can be reached is said for each") {
    const Descriptor here = somewhere(on("tcp;ofi_rxm", "192.0.2.0/24"));
    CHECK(obstacle(here, here) == "");
    CHECK(obstacle(here, somewhere(on("efa", "efa"))) == "no common provider: efa there, tcp;ofi_rxm here");
    CHECK(obstacle(here, somewhere(on("tcp;ofi_rxm", "198.51.100.0/24"))) ==
          "tcp;ofi_rxm: fabric 198.51.100.0/24 there, 192.0.2.0/24 here");
    Descriptor there = here;
    there.address.format = 3;
    CHECK(obstacle(here, there) == "tcp;ofi_rxm: another address format");
    there = here;
    there.address.protocol = 8;
    CHECK(obstacle(here, there) == "tcp;ofi_rxm: another protocol of the provider");
}

TEST_CASE("loopback and memory reach no further than they do") {
    const Descriptor loop = somewhere(on("net", "127.0.0.1/32", Reach::network));
    Descriptor other = loop;
    CHECK(obstacle(loop, other) == "");
    other.where.network_namespace = 1;
    CHECK(obstacle(loop, other) == "net: loopback of another host or network namespace");

    const Descriptor memory = somewhere(on("shm", "shm", Reach::host));
    other = memory;
    CHECK(obstacle(memory, other) == "");
    other.user = 0;
    CHECK(obstacle(memory, other) == "shm: another user of this host");
    other.shared_folder = 26;
    CHECK(obstacle(memory, other) == "shm: another /dev/shm of this host");
    other.where.boot.fill(8);
    CHECK(obstacle(memory, other) == "shm: other host");
}

} // namespace descriptor_test
