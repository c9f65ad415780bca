// SPDX-License-Identifier: BSD-3-Clause
// The map's own file: what is written is what is read, and the line and host in every
// refusal.
#include "eco/topology/networks.h"
#include "support/catch.h"
#include "support/tmpdir.h"

#include "plexus/error.h"

#include <cmath>
#include <cstdlib>

namespace toml_file_test {

using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

std::vector<AcquiredModel> random_acquired(Random& random, std::size_t hosts) {
    std::vector<AcquiredModel> out;
    for (const char* model : {"hockney", "plogp", "logp"}) {
        if (random() % 3 == 0) continue;
        const std::size_t from = random() % hosts;
        AcquiredModel each{from, (from + 1) % hosts, model, {}, {}, {}, {}};
        each.cost = {random() % 1000, random(), uniform(random, 0, 10)};
        if (random() % 4 == 0) each.words = "too small: \"\\\n\x7f\u00e9";
        if (std::string_view(model) != "plogp") {
            each.parameters = {{"latency_s", std::exp(uniform(random, -20, 1))}, {"bytes_per_s", 1e9}};
        } else {
            for (std::size_t level = 0; level < random() % 3; ++level)
                each.levels.push_back({uniform(random, 0, 1),
                                       {{0, 0, 1e-6, 2e-6}, {1ULL << 40, 0.5, uniform(random, 0, 1), 3}}});
        }
        each.cost.bytes >>= 1;
        out.push_back(std::move(each));
    }
    return out;
}

Map random_map(Random& random, bool both_ways) {
    std::vector<std::string> hosts;
    for (std::size_t host = 0; host < 1 + random() % 12; ++host)
        hosts.push_back("node-" + std::to_string(host) + (host == 3 ? "\"\\é" : ""));
    Map map(hosts, {"shm", "tcp"}, {0, 8, 1ULL << 40}, "2026-11-21T08:54:19Z");
    for (std::size_t size = 0; size < 3; ++size)
        for (std::size_t a = 0; a < hosts.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                if (random() % 5 == 0) continue;
                std::vector<double> samples(1 + random() % 9);
                for (double& each : samples) each = std::exp(uniform(random, -5, 15));
                const auto method =
                    random() % 3 == 0 ? Cost::kNoMethod : static_cast<std::uint16_t>(random() % 2);
                both_ways ? map.set_both(size, a, b, cost_of(samples, method))
                          : map.set(size, a, b, cost_of(samples, method));
            }
    if (hosts.size() > 3 && random() % 2 == 0) map.set_shared_wires({{0, 3}, {2, 1}});
    if (hosts.size() > 1) map.set_acquired(random_acquired(random, hosts.size()));
    return map;
}

const std::string kSmall = "version = 1\n"                                  // 1
                           "date = \"today\"\n"                             // 2
                           "hosts = [\"a\", \"b\", \"c\"]\n"                // 3
                           "methods = [\"tcp\"]\n"                          // 4
                           "sizes_bytes = [8]\n"                            // 5
                           "both_ways = true\n"                             // 6
                           "[[size]]\n"                                     // 7
                           "bytes = 8\n"                                    // 8
                           "costs = [\n"                                    // 9
                           "[\"a\", \"b\", \"tcp\", 3, 1, 2, 3, 4, 5],\n"   // 10
                           "[\"b\", \"c\", \"tcp\", 3, 1.5, 2, 3, 4, 5],\n" // 11
                           "]\n";

std::string with(const std::string& old, const std::string& text) {
    std::string out = kSmall;
    const std::size_t at = out.find(old);
    REQUIRE(at != std::string::npos);
    return out.replace(at, old.size(), text);
}

std::string wrong(const std::string& text) {
    try {
        read_map(text, "net.map");
    } catch (const plexus::Error& error) {
        CHECK(error.status() == plexus::Status::bad_config);
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("a map that was written is read as the same value") {
    Random random(20);
    for (int draw = 0; draw < 60; ++draw) {
        const Map map = random_map(random, draw % 2 == 0);
        CHECK(read_map(to_toml(map), "net.map") == map);
    }
}

TEST_CASE("a row holds for both directions where the file says so, else for its own") {
    const CostMatrix both = read_map(kSmall, "net.map").matrix(0, Statistic::min, Symmetry::refuse);
    CHECK(both(1, 0) == 1);
    CHECK(both(1, 2) == 1.5);
    CHECK(both(0, 2) == CostMatrix::kNotMeasured);
    const Map one = read_map(with("true", "false"), "net.map");
    CHECK_THROWS_WITH(one.matrix(0, Statistic::min, Symmetry::refuse), Contains("b to a is not measured"));
}

TEST_CASE("every mistake in a map is named with its line and its hosts") {
    struct Case {
        std::string old, text, part;
    };
    const Case cases[] = {
        {"version = 1", "version = 3",
         "net.map:1: the map has version 3, and this Plexus reads versions 1 to 2"},
        {"version = 1", "version = 0", "net.map:1: the map has version 0"},
        {"version = 1", "version = 3\nnew_thing = 3", "the map has version 3"},
        {"version = 1", "version = 1\nacquired = []", "net.map:2: a map has no \"acquired\""},
        {"version = 1", "version = \"one\"", "net.map:1: version is a whole number"},
        {"version = 1", "", "version is missing"},
        {"version = 1", "version = 1\nspeed = 3", "net.map:2: a map has no \"speed\""},
        {"date = \"today\"", "", "date is missing"},
        {"hosts = ", "# hosts = ", "hosts is missing"},
        {"methods = ", "# methods = ", "methods is missing"},
        {"\"c\"]", "\"c\", \"a\"]", "net.map:3: the host a is there twice"},
        {"[\"a\", \"b\", \"c\"]", "[]", "net.map:3: a map has 1 to 4096 hosts"},
        {"[\"a\", \"b\", \"c\"]", "[1]", "net.map:3: hosts are texts"},
        {", \"c\"]", "]", "net.map:11: c is not among the map's hosts"},
        {"[\"tcp\"]", "[]", "net.map:10: tcp is not among the map's methods"},
        {"[8]", "[8, 64]", "no [[size]] for 64 bytes"},
        {"[8]", "[-8]", "net.map:5: a size is a whole number"},
        {"bytes = 8", "bytes = 9", "net.map:8: a [[size]] of 9 bytes is not what sizes_bytes says"},
        {"both_ways = true", "both_ways = 1", "net.map:6: both_ways is true or false"},
        {"[\"b\", \"c\"", "[\"b\", \"a\"", "net.map:11: b to a: is there twice: with both_ways"},
        {"[\"b\", \"c\"", "[\"a\", \"a\"", "net.map:11: a to a: a host has no cost to itself"},
        {"3, 1.5,", "3, -1.5,", "net.map:11: b to c: the cost -1.5 is negative"},
        {"3, 1.5,", "3, nan,", "net.map:11: the cost from b to c is a number of microseconds"},
        {"3, 1.5,", "3, inf,", "net.map:11: the cost from b to c is a number of microseconds"},
        {"3, 1.5,", "3, 2.5,", "net.map:11: the costs from b to c do not rise"},
        {"3, 1.5,", "3, \"x\",", "net.map:11: b to c: a cost is a number"},
        {"3, 1.5,", "0, 1.5,", "net.map:11: b to c: the number of samples"},
        {"3, 1.5,", "4294967296, 1.5,", "net.map:11: b to c: the number of samples"},
        {"3, 1.5,", "1.5,", "net.map:11: a row of costs is a list of 9"},
        {"both_ways = true", "both_ways = true\nshared_wires = [\"a\"]",
         "net.map:7: a shared wire is a list of hosts"},
        {"both_ways = true", "both_ways = true\nshared_wires = [[\"a\", \"x\"]]",
         "net.map:7: x is not among"},
        {"both_ways = true", "both_ways = true\nshared_wires = [[\"a\"]]", "net.map:7: two hosts or more"},
        {"costs = [", "costs = [[", "net.map"},
    };
    REQUIRE(wrong(kSmall).empty());
    for (const Case& each : cases) {
        INFO(each.text);
        CHECK_THAT(wrong(with(each.old, each.text)), Contains(each.part));
    }
    CHECK_THAT(wrong(kSmall + "[[size]]\nbytes = 9\ncosts = []\n"),
               Contains("net.map:14: a [[size]] of 9 bytes is not what sizes_bytes says"));
    std::string endless = "x";
    for (int part = 0; part < 200'000; ++part) endless += ".x";
    CHECK_THAT(wrong(endless + " = 1\n"), Contains("dots"));
}

TEST_CASE("a map of version 1 is read, and written as version 2 with the same costs") {
    const Map map = load_map(std::getenv("TESTED_MAP_VERSION_1"));
    REQUIRE(map.hosts() == std::vector<std::string>{"ant", "bee", "cow"});
    CHECK(map.cost(1, 2, 0) == Cost{412.5, 420, 431.25, 440, 470, 6, 1});
    CHECK(map.shared_wires() == std::vector<std::vector<std::size_t>>{{0, 1}});
    CHECK(map.acquired().empty());
    const std::string text = to_toml(map);
    CHECK_THAT(text, Contains("version = 2\n"));
    CHECK(read_map(text, "net.map") == map);
}

TEST_CASE("from version 2 on a row says how many passes it has, and one without has one") {
    const std::string text = with("version = 1\n", "version = 2\n");
    CHECK(read_map(text, "net.map").cost(0, 1, 2).passes == 1);
    const std::size_t end = text.find(']', text.find("[\"b\", \"c\""));
    const auto with_passes = [&](const char* passes) { return std::string(text).insert(end, passes); };
    CHECK(read_map(with_passes(", 4"), "net.map").cost(0, 1, 2).passes == 4);
    CHECK_THAT(wrong(with_passes(", 0")), Contains("b to c: the number of passes"));
    CHECK_THAT(wrong(with_passes(", 4294967296")), Contains("b to c: the number of passes"));
    CHECK_THAT(wrong(with_passes(", 4, 4")), Contains("a list of 10"));
    CHECK_THAT(wrong(with_passes(", 4").replace(text.find("version = 2"), 11, "version = 1")),
               Contains("a list of 9"));
}

TEST_CASE("acquired models are read with their numbers, and every mistake in them is named with its line") {
    const auto with_model = [](const std::string& rest) {
        return with("version = 1\n", "version = 2\n") + "[[acquired]]\nfrom = \"a\"\nto = \"c\"\n" + rest;
    };
    const std::string head = "model = \"plogp\"\ncost = [7, 900, 0.5]\n";
    const Map map = read_map(
        with_model(head + "words = \"w\"\nlevels = [[1e-5, [[8, 1e-6, 2e-6, 3e-6], [64, 1, 2, 3]]]]\n"),
        "net.map");
    REQUIRE(map.acquired().size() == 1);
    const AcquiredModel& read = map.acquired().front();
    CHECK((read.from == 0 && read.to == 2 && read.model == "plogp" && read.words == "w"));
    CHECK(read.cost == AcquisitionCost{7, 900, 0.5});
    CHECK(read.levels == std::vector<AcquiredLevel>{{1e-5, {{8, 1e-6, 2e-6, 3e-6}, {64, 1, 2, 3}}}});
    const std::pair<std::string, const char*> cases[] = {
        {"cost = [7, 900, 0.5]\n", "net.map:13: model is missing"},
        {"model = \"plogp\"\n", "net.map:13: cost is missing"},
        {"model = \"p logp\"\ncost = [7, 9, 1]\n", "\"p logp\" is no name of a model"},
        {"model = \"plogp\"\ncost = [7, 9]\n", "net.map:17: a cost is messages, bytes and seconds"},
        {"model = \"plogp\"\ncost = [-7, 9, 1]\n", "net.map:17: here stands a whole number"},
        {"model = \"plogp\"\ncost = [7, 9, -1]\n", "plogp: the time of acquiring it is a number from 0 to"},
        {"model = \"plogp\"\ncost = [7, 9, \"x\"]\n", "net.map:17: here stands a number"},
        {head + "speed = 3\n", "net.map:18: a map has no \"speed\""},
        {head + "parameters = 3\n", "net.map:18: parameters are a table"},
        {head + "parameters = { latency_s = -1 }\n", "plogp: latency_s is a number from 0 to 1e+18, not -1"},
        {head + "parameters = { latency_s = nan }\n",
         "plogp: latency_s is a number from 0 to 1e+18, not nan"},
        {head + "parameters = { latency_s = 1e300 }\n", "plogp: latency_s is a number from 0 to 1e+18, not"},
        {head + "parameters = { \"\" = 1 }\n", "is no name of a model or parameter"},
        {head + "parameters = { a = 1 }\nlevels = [[1, [[8, 1, 1, 1]]]]\n", "parameters or levels, not both"},
        {head + "levels = [1]\n", "net.map:18: a level is a latency and a list of sizes"},
        {head + "levels = [[1, [[8, 1, 1, 1]], 2]]\n",
         "net.map:18: a level is a latency and a list of sizes"},
        {head + "levels = [[1, []]]\n", "net.map:13: plogp: a level has at least one size"},
        {head + "levels = [[1, [[8, 1, 1]]]]\n", "net.map:18: a size is its bytes"},
        {head + "levels = [[1, [[8, 1, 1, 1], [8, 1, 1, 1]]]]\n", "the sizes of a level rise"},
        {head + "levels = [[1, [[8, 1, inf, 1]]]]\n", "an overhead or gap is a number from 0 to"},
        {head + "[[acquired]]\nfrom = \"a\"\nto = \"c\"\n" + head, "plogp is there twice from a to c"},
        {head + "[[acquired]]\nfrom = \"a\"\nto = \"a\"\n" + head,
         "net.map:18: a model is acquired between two hosts of the map"},
        {head + "[[acquired]]\nfrom = \"x\"\nto = \"a\"\n" + head,
         "net.map:19: x is not among the map's hosts"},
    };
    for (const auto& [rest, part] : cases) {
        INFO(rest);
        CHECK_THAT(wrong(with_model(rest)), Contains(part));
    }
}

TEST_CASE("a map cut off at any byte is refused with a sentence") {
    Random random(21);
    const std::string text = to_toml(random_map(random, true));
    const std::size_t last = text.rfind(']');
    for (std::size_t length = 0; length <= last; ++length)
        if (wrong(text.substr(0, length)).empty()) FAIL("cut off after " << length << " of " << text.size());
    CHECK_THAT(wrong(kSmall.substr(0, kSmall.size() - 20)), Contains("the file was cut off"));
}

TEST_CASE("a file that cannot be read says why") {
    const TmpDir folder;
    CHECK_THROWS_WITH(load_map((folder / "none").string()), Contains("cannot be read: No such file"));
    CHECK_THROWS_WITH(load_map(folder.path().string()), Contains("cannot be read: Is a directory"));
    CHECK(load_map(folder.file("net.map", kSmall).string()).hosts().size() == 3);
}

} // namespace toml_file_test
