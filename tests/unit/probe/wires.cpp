// SPDX-License-Identifier: BSD-3-Clause
// Which subnets a probe takes for one wire.
#include "tools/probe/wires.h"

#include "plexus/error.h"
#include "support/catch.h"

namespace wires_test {

using namespace plexus::eco;
using namespace plexus::tools::probe;

namespace {

Cost taking(double us) { return {us, us, us, us, us, 1, Cost::kNoMethod}; }
Map of(std::size_t hosts) {
    std::vector<std::string> names;
    for (std::size_t host = 0; host < hosts; ++host) names.push_back("h" + std::to_string(host));
    return Map(names, {}, {8}, "");
}

} // namespace

TEST_CASE("two games at once take twice as long on one wire, and no longer on a switch") {
    CHECK(is_one_wire(taking(14000), taking(27500), taking(28100)));
    CHECK_FALSE(is_one_wire(taking(14000), taking(14100), taking(15000)));
    CHECK_FALSE(is_one_wire(taking(14000), taking(14100), taking(40000))); // one of them was held up
    Cost disturbed = taking(28000); // most exchanges were held up by something else than a wire
    disturbed.min_us = disturbed.p25_us = 14500;
    CHECK_FALSE(is_one_wire(taking(14000), disturbed, taking(28000)));
    Cost apart = taking(28000); // the first one began before the other game
    apart.min_us = 14000;
    CHECK(is_one_wire(taking(14000), apart, taking(28000)));
}

TEST_CASE("two hosts that are here stand for a subnet") {
    const std::vector<std::size_t> here{5, 1, 2};
    const auto judges = judges_of({{0, 1, 2}, {3, 4}, {5}}, here);
    REQUIRE(judges.size() == 3);
    CHECK(judges[0] == HostPair{1, 2});
    CHECK_FALSE(judges[1]);
    CHECK_FALSE(judges[2]);
}

TEST_CASE("a wire that was not looked at stays in the map, one that was is judged anew") {
    Map map = of(6);
    map.set_shared_wires({{0, 1}, {4, 5}});
    using Wires = std::vector<std::vector<std::size_t>>;
    CHECK(wires_of(map, {{0, 1}, {2, 3}, {4, 5}}, {false, true, std::nullopt}) == Wires{{2, 3}, {4, 5}});
    CHECK(wires_of(map, {{0, 1, 2, 3, 4}, {5}}, {true, std::nullopt}) == Wires{{0, 1, 2, 3, 4}});
}

TEST_CASE("a map refuses wires that cannot be") {
    Map map = of(3);
    CHECK_THROWS_AS(map.set_shared_wires({{0}}), plexus::Error);
    CHECK_THROWS_AS(map.set_shared_wires({{0, 3}}), plexus::Error);
    CHECK_THROWS_AS(map.set_shared_wires({{0, 1}, {1, 2}}), plexus::Error);
}

} // namespace wires_test
