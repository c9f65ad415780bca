// SPDX-License-Identifier: BSD-3-Clause
// The network is as slow as its file says, measured by programs that know nothing of it.
#include "system/lab/lab.h"
#include "system/tools/json_text.h"

namespace speed_test {

using namespace plexus::testing;

namespace {

/// The numbers before `unit` in the output, one for each rank that printed one.
std::vector<double> numbers(const Command& lab, const std::string& before, const std::string& unit) {
    std::vector<double> all;
    for (const std::string& line : lab.lines()) {
        const std::size_t start = line.find("] " + before);
        const std::size_t end = line.find(unit);
        if (start != std::string::npos && end != std::string::npos)
            all.push_back(std::stod(line.substr(start + 2 + before.size())));
    }
    return all;
}

/// Skips a case whose numbers say how busy this machine is, and nothing of the network.
#define NEEDS_A_PUNCTUAL_SWITCH(lab)                                                                         \
    do {                                                                                                     \
        if ((lab).err().find("the switch was the bottleneck") != std::string::npos)                          \
            SKIP_TEST("this machine was too busy to be a switch: " + (lab).err());                           \
    } while (false)

} // namespace

TEST_CASE("a ping-pong over two hosts shows the configured delay") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(lab_words(network, {}, {helper(), "delay", "h1", "h2"}));
    CHECK(lab.wait() == 0);
    INFO(lab.out() << lab.err());
    NEEDS_A_PUNCTUAL_SWITCH(lab);
    const auto one_way = numbers(lab, "one way ", " us");
    REQUIRE(one_way.size() == 1);
    CHECK(one_way[0] == Approx(5000).epsilon(0.1));
}

TEST_CASE("a scaled network is as much slower") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(lab_words(network, {"--scale", "0.25"}, {helper(), "delay", "h1", "h2"}));
    CHECK(lab.wait() == 0);
    INFO(lab.out() << lab.err());
    NEEDS_A_PUNCTUAL_SWITCH(lab);
    const auto one_way = numbers(lab, "one way ", " us");
    REQUIRE(one_way.size() == 1);
    CHECK(one_way[0] == Approx(20000).epsilon(0.1));
    CHECK(lab.err().find("at scale 0.25") != std::string::npos);
}

TEST_CASE("a bulk transfer over two hosts shows the configured rate, and is counted") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(lab_words(network, {"--json", "-", "--quiet"}, {helper(), "rate", "h1", "h2"}));
    CHECK(lab.wait() == 0);
    INFO(lab.out() << lab.err());
    const std::string json = lab.out().substr(lab.out().find('{'));
    REQUIRE(is_json(json));
    if (json.find("\"was_bottleneck\":true") != std::string::npos)
        SKIP_TEST("this machine was too busy to be a switch");
    const auto rates = numbers(lab, "", " kb/s");
    REQUIRE(rates.size() == 1);
    CHECK(rates[0] == Approx(20'000).epsilon(0.1));
    CHECK(number_of(json, "bytes").value_or(0) > 3e6); // of the first cable: 1.5 s and more
}

TEST_CASE("pairs on a switch have the full rate each, on a shared segment half of it") {
    NEEDS_LABS();
    for (const bool is_shared : {false, true}) {
        std::string text = kOneWire;
        if (!is_shared) text.replace(text.find("shared"), 6, "switched");
        const NetworkFile network(text);
        Command lab(lab_words(network, {}, {helper(), "rate", "h1", "h2", "h3", "h4"}));
        CHECK(lab.wait() == 0);
        INFO(lab.out() << lab.err());
        NEEDS_A_PUNCTUAL_SWITCH(lab);
        const auto rates = numbers(lab, "", " kb/s");
        REQUIRE(rates.size() == 2);
        // A wire carries acknowledgements too, and its whole is shared by what the two get.
        CHECK(rates[0] + rates[1] == Approx(is_shared ? 10'000 : 20'000).epsilon(is_shared ? 0.15 : 0.1));
    }
}

} // namespace speed_test
