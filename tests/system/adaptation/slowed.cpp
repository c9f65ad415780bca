// SPDX-License-Identifier: BSD-3-Clause
// A group adapts in a lab whose network changes while the group's calls are under way.
#include "system/lab/lab.h"

#include <fstream>

namespace slowed_test {

using namespace plexus::testing;

namespace {

/// Three clusters, each linked with each other one; one link has a tenth of the others' rate.
std::string triangle(const std::string& slow = {}) {
    std::string text;
    for (const char name : {'a', 'b', 'c'})
        text += std::string("[[segment]]\nname = \"s") + name +
                "\"\nkind = \"switched\"\nrate = \"100 Mb/s\"\ndelay = \"50 us\"\nhosts = [\"" + name +
                "1\", \"" + name + "2\"]\n";
    for (const std::string ends : {"ab", "bc", "ac"})
        text += "[[link]]\nname = \"" + ends + "\"\nbetween = [\"s" + ends[0] + "\", \"s" + ends[1] +
                "\"]\nrate = \"" + (ends == slow ? "1 Mb/s" : "10 Mb/s") + "\"\ndelay = \"300 us\"\n";
    return text;
}

void probe(const NetworkFile& network, const std::string& map) {
    Command lab(lab_words(network, {"--quiet"}, {std::getenv("TESTED_PLEXUS"), "probe", map}));
    CHECK(lab.wait(100s * kPatience) == 0);
    INFO(lab.out() << lab.err());
    REQUIRE(std::ifstream(map).good());
}

/// The number after `words` in the text.
double number_after(const std::string& text, const std::string& words) {
    const std::size_t at = text.find(words);
    return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

} // namespace

TEST_CASE(
    "a link is slowed to a tenth: within 20 calls the plan avoids it, and is as quick as by a fresh map") {
    NEEDS_LABS();
    const TmpDir folder;
    const std::string map = (folder / "map.toml").string();
    const std::string fresh = (folder / "fresh.toml").string();
    const std::string slowed = (folder / "slowed").string();
    const NetworkFile network(triangle());
    probe(network, map);

    Command lab(lab_words(network, {"--no-prefix", "--quiet"},
                          {std::getenv("TESTED_ADAPTATION"), map, fresh, slowed}));
    REQUIRE(lab.says("ready", 1, 60s * kPatience));
    const std::string before = lab.out().substr(lab.out().rfind("epoch"));
    INFO(lab.out() << lab.err());
    CHECK(number_after(before, "epoch ") == 0);                             // nothing has drifted yet
    const std::string slow = number_after(before, "ac ") > 0 ? "ac" : "ab"; // from the root's cluster
    REQUIRE(number_after(before, slow + " ") > 0);
    probe(NetworkFile(triangle(slow)), fresh);
    Command ctl({"lab", "ctl", "--lab", std::to_string(lab.pid()), "rate", slow, "1 Mb/s"});
    CHECK(ctl.wait() == 0);
    std::ofstream(slowed).put('1');
    CHECK(lab.wait(100s * kPatience) == 0);
    INFO(lab.out() << lab.err());
    REQUIRE(lab.out().find("after 20 calls") != std::string::npos);
    CHECK(number_after(lab.out().substr(lab.out().find("after 20 calls")), slow + " ") == 0);
    CHECK(count_of(lab.out(), "times as long as the map says") >= 4); // between both hosts of a and both of b
    const double adapted = number_after(lab.out(), "median adapted ");
    CHECK(adapted > 0);
    CHECK(adapted <= 1.2 * number_after(lab.out(), "median fresh "));
    CHECK(number_after(lab.out(), "median stale ") > 2 * adapted);
    CHECK(lab.left_nothing());
}

} // namespace slowed_test
