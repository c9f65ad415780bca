// SPDX-License-Identifier: BSD-3-Clause
// Two sites with a file of five lines each, those of the examples: inside, tcp; between, tls. Every card is
// captured.
#include "support/tmpdir.h"
#include "system/lab/lab.h"

#include <filesystem>
#include <fstream>

namespace sites_test {

using namespace plexus::testing;

namespace {

const std::string kTwoSites = R"(
[[segment]]
name = "all"
rate = "100 Mb/s"
delay = "1 ms"
hosts = ["kiel-1", "kiel-2", "oslo-1"]
)";

/// The number behind "rank N captured … frames, " in the output.
long readable_at(const std::string& out, int rank) {
    const std::string line = "rank " + std::to_string(rank) + " captured ";
    const std::size_t at = out.find(line);
    const std::size_t comma = at == out.npos ? at : out.find("frames, ", at);
    return comma == out.npos ? -1 : std::strtol(out.c_str() + comma + 8, nullptr, 10);
}

} // namespace

TEST_CASE("no text can be read between two sites, and all can inside one") {
    NEEDS_LABS();
    if (std::getenv("TESTED_CROSSING") == nullptr) SKIP_TEST("this build has no tls");
    const TmpDir folder;
    const std::string examples = std::getenv("TESTED_SITES");
    for (const char* file : {"kiel.toml", "oslo.toml"})
        std::filesystem::copy(examples + "/" + file, folder / file);
    const bool oslo_too = GENERATE(true, false); // one side's rule is enough
    if (!oslo_too)
        std::ofstream(folder / "oslo.toml")
            << "methods = [\"local\", \"shm\", \"tcp\", \"tls\"]\nsite = \"oslo\"\n";
    const NetworkFile network(kTwoSites);
    const std::string script = std::string("exec ") + std::getenv("TESTED_CROSSING") + " --plexus-config " +
                               (folder / "").string() + "$(hostname | cut -d- -f1).toml";
    Command lab(lab_words(network, {"--no-prefix", "--quiet"}, {"sh", "-c", script}));
    CHECK(lab.wait(60s * kPatience) == 0);
    INFO(lab.out() << lab.err());
    CHECK(count_of(lab.out(), "rank 0 reaches rank 1 by tcp\n") == 1);
    CHECK(count_of(lab.out(), "rank 0 reaches rank 2 by tls\n") == 1);
    CHECK(count_of(lab.out(), "tcp: only within site kiel; the peer is at oslo") == 1);
    CHECK(readable_at(lab.out(), 0) > 0);
    CHECK(readable_at(lab.out(), 1) > 0);
    CHECK(readable_at(lab.out(), 2) == 0);
    CHECK(lab.left_nothing());
}

} // namespace sites_test
