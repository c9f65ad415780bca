// SPDX-License-Identifier: BSD-3-Clause
// A probe of contexts on this machine: the map, the summary, and what goes wrong.
#include "system/probe/probe.h"

#include <csignal>
#include <fstream>

namespace job_test {

using namespace plexus;
using namespace plexus::testing;

TEST_CASE("every pair of a job is in the map, with all sizes, and partition reads it") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    for (const Words& more : {Words{}, Words{"--parallel"}}) {
        const std::string json = probed(5, file, more);
        CHECK(number_of(json, "contexts") == 5);
        CHECK(number_of(json, "pairs_measured") == 10);
        CHECK(number_of(json, "pairs_missing") == 0);
        CHECK(value_of(json, "sizes_bytes") == "[8,1024,32768]");
        const eco::Map map = eco::load_map(file);
        CHECK(map.hosts().size() == 5);
        CHECK(pairs_in(map) == 10);
        CHECK(map.same_both_ways());
        CHECK(map.cost(0, 1, 2).samples >= 2);
        CHECK(map.methods().at(map.cost(0, 1, 2).method) == "shm");
        CHECK(map.cost(2, 1, 2).min_us > 0);
        Command partition({"map", "partition", file, "--json"});
        CHECK(partition.wait() == 0);
        CHECK(value_of(partition.out(), "subnets") == value_of(json, "subnets"));
    }
}

TEST_CASE("under plexus run, one context stands for each host, and more is said of one host alone") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command job({"run", "--no-prefix", "-n", "3", "--", tested_plexus(), "probe", file});
    CHECK(job.wait() == 0);
    CHECK(job.err().find("--per-context") != std::string::npos);
    CHECK(eco::load_map(file).hosts().size() == 1);
    CHECK(count_of(job.out(), "\n") == 1);
    CHECK(job.left_nothing());
}

TEST_CASE("sizes, the metric and the tolerance are as they were asked for") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    const std::string json = probed(3, file,
                                    {"--sizes", "64KiB, 16, 16", "--metric", "64KiB", "--tolerance",
                                     "1000000%", "--confirm", "1", "--repeat", "2"});
    CHECK(value_of(json, "sizes_bytes") == "[16,65536]");
    CHECK(value_of(json, "tolerance") == "\"1000000%\"");
    CHECK(number_of(json, "edges_repeated") == 3);
    const eco::Map map = eco::load_map(file);
    CHECK(number_of(json, "passes") == 2);
    CHECK(map.cost(1, 0, 1).samples == 6); // two repetitions in each of two passes, and once more
    CHECK(map.cost(0, 0, 1).samples == 4);
}

TEST_CASE("a context that dies ends the job, and the map is whole") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command job(probe_words(4, file, {"--trips", "100000", "--repetitions", "1000000"}));
    REQUIRE(eventually(20s, [&] { return std::ifstream(file).good(); }));
    const pid_t victim = process_of(job, 2);
    REQUIRE(victim > 0);
    ::kill(victim, SIGKILL);
    CHECK(job.wait().value_or(0) != 0);
    CHECK(job.left_nothing());
    CHECK(eco::load_map(file).hosts().size() == 4);
}

TEST_CASE("a context that stands still is given up and named, and the others are measured") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command job(probe_words(
        4, file,
        {"--sizes", "8", "--repetitions", "200", "--trips", "100", "--patience", "8", "--confirm", "0"}));
    REQUIRE(eventually(20s, [&] { return std::ifstream(file).good(); }));
    const pid_t victim = process_of(job, 2);
    REQUIRE(victim > 0);
    ::kill(victim, SIGSTOP);
    CHECK(job.wait(100s) == 1);
    CHECK(job.err().find("not measured: ") != std::string::npos);
    CHECK(job.err().find(":2") != std::string::npos);
    CHECK(job.err().find("--resume") != std::string::npos);
    CHECK(job.left_nothing());
    const eco::Map map = eco::load_map(file);
    for (const std::size_t a : {0u, 1u}) CHECK(map.cost(0, a, 3).measured());
}

TEST_CASE("what cannot work is said in a sentence, before anything is measured") {
    const TmpDir folder;
    const std::string map = (folder / "map.toml").string();
    probed(2, map);
    const std::string broken = folder.file("broken", "version = 9\n");
    const std::string name = eco::load_map(map).hosts().front();
    const std::pair<Words, std::string> cases[] = {
        {probe_words(2, (folder / "none" / "net").string()), "No such file"},
        {probe_words(2, broken, {"--resume"}), "version 9"},
        {probe_words(2, (folder / "none").string(), {"--refresh", name}), "none"},
        {probe_words(2, map, {"--refresh", "nobody"}), "no context of this job"},
        {probe_words(2, map, {"--resume", "--sizes", "8"}), "8, 1024, 32768"},
        {probe_words(2, map, {"--resume", "--metric", "9"}), "its sizes are"},
    };
    for (const auto& [words, part] : cases) {
        Command tool(words);
        CHECK(tool.wait() == 3);
        INFO(tool.err());
        CHECK(tool.err().find("plexus probe: ") != std::string::npos);
        CHECK(tool.err().find(part) != std::string::npos);
        CHECK(tool.left_nothing());
    }
}

} // namespace job_test
