// SPDX-License-Identifier: BSD-3-Clause
// `plexus bench collective` in a lab: its figures are those that the wires allow.
#include "support/tmpdir.h"
#include "system/lab/lab.h"
#include "system/tools/json_text.h"

#include <fstream>

namespace collective_test {

using namespace plexus::testing;

TEST_CASE("a broadcast over one wire takes at least the time of its bits") {
    NEEDS_LABS();
    const NetworkFile network(kOneWire);
    Command lab(lab_words(network, {"--no-prefix", "--quiet"},
                          {std::getenv("TESTED_PLEXUS"), "bench", "collective", "--json", "--operation",
                           "broadcast", "--pattern", "star", "--size", "16000", "--iterations", "5"}));
    CHECK(lab.wait(60s * kPatience) == 0);
    INFO(lab.out() << lab.err());
    const auto lines = lab.lines();
    REQUIRE(lines.size() == 1);
    REQUIRE(is_json(lines[0]));
    CHECK(number_of(lines[0], "contexts") == 4);
    // Three messages of 16,000 bytes take their turns on 10 Mb/s: 12.8 ms each.
    const double least = number_of(lines[0], "min").value_or(0);
    CHECK(least >= 0.9 * 3 * 12800); // clocks are compared to half of the quickest exchange
    CHECK(number_of(lines[0], "p50").value_or(0) <= 10 * 3 * 12800);
    CHECK(lab.left_nothing());
}

TEST_CASE("a job runs on a link graph, by a schedule, and the report says how long queues were") {
    NEEDS_LABS();
    const auto run = [](const std::string& graph, const std::string& named, int contexts,
                        const std::string& pattern) {
        Command lab({"lab",       graph,        "--rate", "10 Mb/s",     "--no-prefix",
                     "--quiet",   "--json",     "-",      "--",          std::getenv("TESTED_PLEXUS"),
                     "bench",     "collective", "--json", "--operation", "all_to_all",
                     "--pattern", pattern,      "--size", "64KiB",       "--iterations",
                     "2"});
        CHECK(lab.wait(60s * kPatience) == 0);
        INFO(lab.out() << lab.err());
        const auto lines = lab.lines();
        REQUIRE(lines.size() == 2);
        CHECK(number_of(lines[0], "contexts") == contexts);
        CHECK(value_of(lines[1], "network") == "\"" + named + "\"");
        CHECK(lab.left_nothing());
        return number_of(lines[1], "queue_p99_bytes").value_or(-1);
    };
    const double scheduled = run("btree-4", "btree-4", 4, "schedule:btree-4");
    const double pairwise = run("btree-4", "btree-4", 4, "pairwise");
    CHECK(scheduled >= 0);
    CHECK(scheduled < pairwise / 4);

    const TmpDir folder;
    const std::string file = (folder / "mine.json").string();
    std::ofstream(file) << R"({"links": [["a","s"],["s","a"],["b","s"],["s","b"],["c","s"],["s","c"]],
                               "terminals": ["a","b","c"]})";
    CHECK(run(file, "mine", 3, "schedule:" + file) >= 0);

    Command fat({"lab", "ftree-4", "--", "true"});
    CHECK(fat.wait() == 3);
    CHECK(fat.err().find("several ways join") != std::string::npos);
}

} // namespace collective_test
