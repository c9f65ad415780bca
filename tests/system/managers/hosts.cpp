// SPDX-License-Identifier: BSD-3-Clause
// Jobs of other launchers on several hosts: those of a lab.
#include "support/tmpdir.h"
#include "system/lab/lab.h"
#include "system/managers/manager.h"

#include <filesystem>

namespace managed_hosts_test {

using namespace plexus::testing;

namespace {

const std::string kTwoSites = R"(
[[segment]]
name = "left"
kind = "switched"
rate = "100 Mb/s"
delay = "100 us"
hosts = ["l1", "l2"]

[[segment]]
name = "right"
kind = "switched"
rate = "100 Mb/s"
delay = "100 us"
hosts = ["r1", "r2"]

[[link]]
name = "wide"
between = ["left", "right"]
rate = "100 Mb/s"
delay = "5 ms"
)";

/// What stands in for ssh.
std::string agent_in(const TmpDir& folder) {
    const auto file =
        folder.file("agent", "#!/bin/sh\nexec " + tested_plexus() + " lab enter --shell \"$@\"\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
}

Words across_hosts(const Manager& manager, const std::string& agent, const Words& program) {
    const bool pmix = manager.name == "PMIx";
    Words words{manager.program};
    if (pmix)
        words.insert(words.end(), {"--quiet", "--mca", "plm_rsh_agent", agent, "--host", "l1,l2,r1,r2"});
    else
        words.insert(words.end(), {"-launcher", "rsh", "-launcher-exec", agent, "-hosts", "l1,l2,r1,r2"});
    words.insert(words.end(), {"-n", "4"});
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

} // namespace

TEST_CASE("a job of another launcher spans hosts") {
    NEEDS_LABS();
    const TmpDir folder;
    const NetworkFile network(kTwoSites);
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        Command lab(lab_words(network, {"--on", "lab", "--quiet"},
                              across_hosts(manager, agent_in(folder), {tested_helper(), "meet"})));
        CHECK(lab.wait(60s) == 0);
        INFO(lab.out() << lab.err());
        for (int rank = 0; rank < 4; ++rank)
            CHECK(count_of(lab.out(), "rank " + std::to_string(rank) + " of 4 met " +
                                          std::to_string((rank + 1) % 4) + " in " + manager.name) == 1);
        CHECK(lab.left_nothing());
    }
}

TEST_CASE("plexus probe under another launcher finds the sites") {
    NEEDS_LABS();
    const TmpDir folder;
    const NetworkFile network(kTwoSites);
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        const std::string map = (folder.path() / (manager.name + ".json")).string();
        Command lab(lab_words(network, {"--on", "lab", "--quiet"},
                              across_hosts(manager, agent_in(folder), {tested_plexus(), "probe", map})));
        CHECK(lab.wait(90s) == 0);
        INFO(lab.out() << lab.err());
        CHECK(lab.out() == "l1 l2\nr1 r2\n");
    }
}

} // namespace managed_hosts_test
