// SPDX-License-Identifier: BSD-3-Clause
// A probe that goes on where another one ended, and one that measures a host anew.
#include "system/probe/probe.h"

#include <csignal>

namespace resume_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

/// Writes the file without any cost of this pair.
void forget(const std::string& file, std::size_t a, std::size_t b) {
    eco::Map map = eco::load_map(file);
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size) map.set_both(size, a, b, {});
    std::ofstream(file) << to_toml(map);
}

} // namespace

TEST_CASE("a probe that was killed goes on where the file ends") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command job(
        probe_words(6, file, {"--repetitions", "300", "--trips", "100", "--sizes", "1KiB", "--repeat", "1"}));
    REQUIRE(eventually(30s, [&] { return std::ifstream(file).good() && pairs_in(eco::load_map(file)) > 0; }));
    job.kill(SIGKILL);
    REQUIRE(job.left_nothing());
    const eco::Map before = eco::load_map(file);
    const std::size_t done = pairs_in(before);
    const std::string json = probed(6, file, {"--resume", "--confirm", "0", "--repeat", "1"});
    CHECK(number_of(json, "pairs_measured") == 15.0 - static_cast<double>(done));
    const eco::Map after = eco::load_map(file);
    CHECK(pairs_in(after) == 15);
    for (std::size_t a = 0; a < 6; ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (before.cost(0, a, b).measured()) CHECK(before.cost(0, a, b) == after.cost(0, a, b));
}

TEST_CASE("resuming measures what is missing and nothing else; without a file it begins") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    CHECK(number_of(probed(4, file, {"--resume", "--sizes", "8"}), "pairs_measured") == 6);
    forget(file, 1, 3);
    const eco::Map before = eco::load_map(file);
    CHECK(number_of(probed(4, file, {"--resume", "--confirm", "0"}), "pairs_measured") == 1);
    const eco::Map after = eco::load_map(file);
    CHECK(after.cost(0, 1, 3).measured());
    CHECK(after.cost(0, 0, 1) == before.cost(0, 0, 1));
    CHECK(number_of(probed(4, file, {"--resume", "--confirm", "0"}), "pairs_measured") == 0);
}

TEST_CASE("a pair of which passes are missing gets these, and what it had counts") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    probed(3, file, {"--sizes", "8,64", "--confirm", "0", "--repeat", "3"});
    eco::Map map = eco::load_map(file);
    for (const std::size_t size : {0u, 1u}) {
        CHECK(map.cost(size, 0, 1).passes == 3);
        eco::Cost one = map.cost(size, 0, 2);
        one.passes = 1;
        one.min_us = 0.001; // less than any message takes
        map.set_both(size, 0, 2, one);
    }
    std::ofstream(file) << to_toml(map);
    CHECK(number_of(probed(3, file, {"--resume", "--confirm", "0", "--repeat", "3"}), "pairs_measured") == 1);
    const eco::Map after = eco::load_map(file);
    CHECK(after.cost(0, 0, 2).passes == 3);
    CHECK(after.cost(1, 0, 2).passes == 3);
    CHECK(after.cost(0, 0, 2).min_us == 0.001);
    CHECK(after.cost(0, 0, 2).samples == map.cost(0, 0, 2).samples + 2 * 2);
    CHECK(after.cost(0, 0, 1) == map.cost(0, 0, 1));
    CHECK(number_of(probed(3, file, {"--resume", "--confirm", "0", "--repeat", "4"}), "pairs_measured") == 3);
}

TEST_CASE("a refreshed host is measured with all others, and they are not among themselves") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    probed(4, file, {"--sizes", "8", "--confirm", "0"});
    const eco::Map before = eco::load_map(file);
    const std::string json = probed(4, file, {"--refresh", before.hosts()[2], "--confirm", "0"});
    CHECK(number_of(json, "pairs_measured") == 3);
    const eco::Map after = eco::load_map(file);
    CHECK(after.cost(0, 0, 1) == before.cost(0, 0, 1));
    CHECK_FALSE(after.cost(0, 2, 1) == before.cost(0, 2, 1));
}

TEST_CASE("hosts that came are added, and hosts that are gone are named and kept") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    probed(2, file, {"--sizes", "8"});
    CHECK(number_of(probed(3, file, {"--resume", "--confirm", "0"}), "pairs_measured") == 2);
    Command fewer(probe_words(2, file, {"--resume", "--confirm", "0"}));
    CHECK(fewer.wait() == 0);
    CHECK(fewer.err().find(eco::load_map(file).hosts()[2] + ", which is not in this job") !=
          std::string::npos);
    CHECK(fewer.err().find("without --resume") != std::string::npos);
    CHECK(pairs_in(eco::load_map(file)) == 3);
}

} // namespace resume_test
