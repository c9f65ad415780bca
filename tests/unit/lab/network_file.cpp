// SPDX-License-Identifier: BSD-3-Clause
// A network's file becomes a value, or an error that says where it is wrong and how.
#include "support/catch.h"
#include "unit/lab/networks.h"

#include "plexus/error.h"

namespace network_file_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::tools::lab;
using namespace std::chrono_literals;

TEST_CASE("a file with every kind of part becomes a network") {
    const Network network = network_of(R"(
summary = "all of it"
mtu = 4000
overhead = 8
[[segment]]
name = "wire"
kind = "shared"
rate = "10 Mb/s"
hosts = ["one", "two"]
[[segment]]
name = "many"
delay = "1 ms"
hosts = 3
[[bridge]]
name = "middle"
joins = ["wire"]
delay = "20 us"
[[link]]
name = "line"
between = ["middle", "many"]
rate = "64 kb/s"
queue = "8 KiB"
duplex = "half"
)");
    CHECK(network.name == "test");
    CHECK(network.summary == "all of it");
    CHECK(network.mtu == 4000);
    CHECK(network.overhead_bytes == 8);
    REQUIRE(network.hosts.size() == 5);
    CHECK(network.hosts[1].name == "two");
    CHECK(network.hosts[4].name == "many-3");
    REQUIRE(network.places.size() == 3);
    CHECK(network.places[0].kind == Place::Kind::shared);
    CHECK(network.places[1].speed.bits_per_second == 0);
    CHECK(network.places[2].speed.delay == 20us);
    REQUIRE(network.links.size() == 2);
    CHECK(network.links[0].is_port);
    CHECK(network.links[1].speed == Speed{64'000, 0ns, 8192});
    CHECK(network.links[1].half_duplex);
}

TEST_CASE("a mistake is named with its line and what would be right") {
    const std::string segment = "[[segment]]\nname = \"s\"\nhosts = [\"a\", \"b\"]\n";
    const std::pair<std::string, std::string> cases[] = {
        {"segmnt = 1", "folder/test.toml:1: unknown key \"segmnt\": a network takes summary, mtu"},
        {"[[segment]]\nhosts = 2", "this segment has no name"},
        {"[segment]\nname = \"s\"", "below a line [[segment]]"},
        {segment + "rate = 10", "test.toml:4: rate is a text like \"10 Mb/s\""},
        {segment + "rate = \"10 MB/s\"", "rate is a text like"},
        {segment + "delay = \"-1 us\"", "delay is a text like"},
        {segment + "kind = \"token ring\"", "not \"token ring\""},
        {segment + "kind = \"shared\"", "\"s\" needs a rate"},
        {segment + "queue = \"64 kb\"",
         "queue is a size in bytes like \"64 KiB\" or \"64 kB\" (a small b is for bits)"},
        {segment + "queue = \"1 KiB\"", "too short for one frame of 1514 bytes"},
        {"mtu = 100\n" + segment, "mtu of 100 is not between"},
        {"mtu = \"1500\"\n" + segment, "mtu is a whole number"},
        {"", "it has no hosts"},
        {"[[segment]]\nname = \"s\"\nhosts = 2000", "at most 1000 hosts"},
        {"[[segment]]\nname = \"s\"\nhosts = [\"a\", \"a\"]", "\"a\" is the name of a host, so a host needs"},
        {"[[segment]]\nname = \"s\"\nhosts = [\"s\"]", "is the name of a segment, so a host needs"},
        {"[[segment]]\nname = \"s\"\nhosts = [\"lab\"]", "the machine that the lab runs on"},
        {"[[segment]]\nname = \"s\"\nhosts = [\"a_b\"]", "\"a_b\" cannot be the name of a host"},
        {"[[segment]]\nname = \"s\"\nhosts = [1]", "list of names like"},
        {segment + "[[segment]]\nname = \"t\"\nhosts = [\"c\"]", "no way leads from \"a\" to \"c\""},
        {segment + "[[link]]\nname = \"l\"\nbetween = [\"s\", \"t\"]",
         "test.toml:6: there is no segment or bridge \"t\""},
        {segment + "[[link]]\nname = \"l\"\nbetween = [\"s\"]", "between two places"},
        {segment + "[[link]]\nname = \"l\"\nbetween = [\"s\", \"s\"]", "joins \"s\" with itself"},
        {segment + "[[link]]\nname = \"l\"", "\"between\" is missing"},
        {"[[segment", "folder/test.toml:1: "},
    };
    for (const auto& [text, sentence] : cases) {
        INFO(text);
        try {
            static_cast<void>(network_of(text));
            FAIL_CHECK("was accepted");
        } catch (const Error& error) {
            INFO(error.what());
            CHECK(error.status() == Status::bad_config);
            CHECK(std::string(error.what()).find(sentence) != std::string::npos);
        }
    }
}

TEST_CASE("scaling slows everything down alike, or only the rates") {
    const Network network = network_of(kTwoWires);
    const Network slow = scaled(network, 0.1, false);
    CHECK(slow.places[0].speed.bits_per_second == 1'000'000);
    CHECK(slow.places[0].speed.delay == 50us);
    CHECK(slow.scale == Approx(0.1));
    CHECK(scaled(network, 0.1, true).places[0].speed.delay == 5us);
    CHECK(scaled(network, 1e-6, false).places[0].speed.bits_per_second == 10);
}

} // namespace network_file_test
