// SPDX-License-Identifier: BSD-3-Clause
// Which wires a frame takes.
#include "support/catch.h"
#include "unit/lab/networks.h"

#include "tools/lab/routes.h"

namespace routes_test {

using namespace plexus::testing;
using namespace plexus::tools::lab;
using namespace std::chrono_literals;

namespace {

/// The parts that a frame passes, like "left bridge right".
std::string way(const Routes& routes, std::size_t from, std::size_t to) {
    std::string text;
    for (const Hop& hop : routes.route(from, to)) {
        CHECK(hop.station < routes.pipes()[hop.pipe].stations);
        text += (text.empty() ? "" : " ") + routes.pipes()[hop.pipe].part;
    }
    return text;
}

} // namespace

TEST_CASE("on a shared segment there is one wire, and to another one a bridge") {
    const Routes routes(network_of(kTwoWires));
    CHECK(way(routes, 0, 1) == "left");
    CHECK(way(routes, 0, 3) == "left bridge right");
    CHECK(way(routes, 2, 1) == "right bridge left");
    CHECK(way(routes, 2, 2).empty());
    CHECK(routes.delay(0, 3) == 60us);
    // Two hosts and the bridge contend for each wire, two wires for the bridge.
    REQUIRE(routes.pipes().size() == 3);
    for (const Pipe& pipe : routes.pipes()) CHECK(pipe.stations == (pipe.part == "bridge" ? 2 : 3));
    CHECK(routes.route(0, 1)[0].station != routes.route(1, 0)[0].station);
}

TEST_CASE("on a switch each host has a cable of its own, and the delay is that between two") {
    const Routes routes(network_of(kSwitched));
    CHECK(way(routes, 0, 2) == "a c");
    CHECK(routes.delay(0, 2) == 100us);
    const Hop out = routes.route(0, 2)[0];
    CHECK(out == routes.entry(0));
    CHECK(routes.pipes()[out.pipe].from == "a");
    CHECK(routes.pipes()[out.pipe].to == "switch");
    CHECK(routes.route(2, 0)[1].pipe != out.pipe); // the cable's other direction
}

TEST_CASE("the way with the fewest links is taken, then the one with the least delay") {
    std::string text;
    for (const char* name : {"w", "x", "y", "z"})
        text += std::string("[[segment]]\nname = \"") + name + "\"\nhosts = [\"" + name + "0\"]\n";
    const auto link = [&](const char* name, const char* a, const char* b, const char* delay) {
        text += std::string("[[link]]\nname = \"") + name + "\"\nbetween = [\"" + a + "\", \"" + b +
                "\"]\ndelay = \"" + delay + "\"\n";
    };
    link("wx", "w", "x", "1 us");
    link("xz", "x", "z", "10 us");
    link("wy", "w", "y", "2 us");
    link("yz", "y", "z", "3 us");
    link("slow", "x", "y", "1 ms");
    const Routes routes(network_of(text));
    CHECK(way(routes, 0, 3) == "w0 wy yz z0");
    CHECK(way(routes, 3, 0) == "z0 yz wy w0");
    CHECK(way(routes, 1, 2) == "x0 slow y0"); // one link, though slower than two
}

TEST_CASE("both directions of a half-duplex link are one wire with two stations") {
    const Routes routes(network_of(R"(
[[segment]]
name = "s"
hosts = ["a"]
[[segment]]
name = "t"
hosts = ["b"]
[[link]]
name = "line"
between = ["s", "t"]
rate = "1 Mb/s"
duplex = "half"
)"));
    const Hop there = routes.route(0, 1)[1];
    const Hop back = routes.route(1, 0)[1];
    CHECK(there.pipe == back.pipe);
    CHECK(there.station != back.station);
    CHECK(routes.pipes()[there.pipe].stations == 2);
}

} // namespace routes_test
