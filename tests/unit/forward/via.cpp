// SPDX-License-Identifier: BSD-3-Clause
// Rows of the method `forward` as bytes: what fits, what is none, and chains that never end.
#include "forward/via.h"

#include "support/catch.h"

namespace via_test {

using namespace plexus;
using namespace plexus::forward;

Via gate(std::uint8_t digit, DescriptorTable table) {
    Via via;
    via.instance = 1;
    via.name = "gate";
    via.url = "plexus://gate:7000";
    via.hub = {};
    via.hub.context.bytes.fill(digit);
    via.hub.key = 77;
    via.hub.handle = 5;
    via.hub.generation = 6;
    via.table = std::move(table);
    return via;
}

DescriptorTable row(const std::string& method, std::size_t bytes) {
    DescriptorTable table;
    table.push_back({method, std::vector<std::byte>(bytes, std::byte{1}), {}});
    return table;
}

DescriptorTable behind(const Via& via) {
    DescriptorTable table;
    table.push_back({"forward:gate", encode(via, 1024), {}});
    return table;
}

TEST_CASE("a row says through whom, which object there, and how that one is reached") {
    const Via before = gate(3, row("wire", 40));
    const auto after = decode(encode(before, 1024));
    REQUIRE(after);
    CHECK(after->instance == 1);
    CHECK(after->text() == "gate (03030303)");
    CHECK(after->url == before.url);
    CHECK(after->hub == before.hub);
    CHECK(after->table == before.table);
}

TEST_CASE("of a forwarder's rows the longest are left out until the others fit") {
    Via via = gate(3, row("wire", 40));
    via.table.insert(0, {"fabric", std::vector<std::byte>(900), {}});
    via.table.push_back({"fabric:two", std::vector<std::byte>(500), {}});
    const wire::Bytes bytes = encode(via, 700);
    CHECK(bytes.size() <= 700);
    const auto after = decode(bytes);
    REQUIRE(after);
    REQUIRE(after->table.size() == 2);
    CHECK(after->table[0].method == "wire");
    CHECK(after->table[1].method == "fabric:two");
    CHECK(encode(via, 20).empty());
}

TEST_CASE("where a row and a URL do not fit together, the URL is left out before any row") {
    Via via = gate(3, row("wire", 40));
    const std::size_t with = encode(via, 1024).size();
    const auto without = decode(encode(via, with - 1));
    REQUIRE(without);
    CHECK(without->url.empty());
    CHECK(without->table == via.table);
    via.url.assign(kLongestUrl, 'u');
    CHECK(decode(encode(via, 1024)));
    via.url += 'u';
    CHECK_FALSE(decode(encode(via, 1024)));
}

TEST_CASE("the URL of an inner row is left out before the row is") {
    const Via one = gate(1, row("wire", 40));
    const Via two = gate(2, behind(one));
    Via without = two;
    without.url.clear();
    const auto inner_of = [&](std::size_t limit) {
        const auto after = decode(encode(two, limit));
        REQUIRE(after);
        REQUIRE(after->table.size() == 1);
        return decode(after->table[0].bytes).value();
    };
    const std::size_t size = encode(without, 1024).size();
    CHECK(inner_of(size).url == one.url);
    CHECK(inner_of(size - 1).url.empty());
    CHECK(inner_of(size - one.url.size()).table == one.table);
    CHECK(decode(encode(two, size - one.url.size() - 1)).value().table.empty());
}

TEST_CASE("bytes that are no row are refused, wherever they end") {
    wire::Bytes bytes = encode(gate(3, row("wire", 40)), 1024);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(decode(wire::View(bytes).first(size)));
    bytes[0] = std::byte{9};
    CHECK_FALSE(decode(bytes));
}

TEST_CASE("the forwarders on the way are counted") {
    const Via one = gate(1, row("wire", 20));
    const Via two = gate(2, behind(one));
    const ContextId self{};
    CHECK(hops(one, self).value() == 1);
    CHECK(hops(two, self).value() == 2);
    Via fork = gate(3, behind(two)); // by way of both, or of the second of them alone
    fork.table.push_back({"forward:one", encode(one, 1024), {}});
    CHECK(hops(fork, self).value() == 2);
}

TEST_CASE("a way through this context, twice through one, or through too many is refused with the reason") {
    const Via one = gate(1, row("wire", 20));
    const Via two = gate(2, behind(one));
    const auto own = hops(one, one.hub.context);
    REQUIRE_FALSE(own);
    CHECK(own.failure().why.find("through this context itself") != std::string::npos);
    const auto inner = hops(two, one.hub.context);
    REQUIRE_FALSE(inner);
    const auto loop = hops(gate(1, behind(two)), ContextId{});
    REQUIRE_FALSE(loop);
    CHECK(loop.failure().why.find("gate (01010101) twice") != std::string::npos);
    Via chain = one;
    for (std::uint8_t i = 2; i <= kMostHops; ++i) chain = gate(i, behind(chain));
    CHECK(hops(chain, ContextId{}).value() == kMostHops);
    const auto longer = hops(gate(99, behind(chain)), ContextId{});
    REQUIRE_FALSE(longer);
    CHECK(longer.failure().why.find("more than 8 forwarders") != std::string::npos);
}

} // namespace via_test
