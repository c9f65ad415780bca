// SPDX-License-Identifier: BSD-3-Clause
// A client that listens on loopback only, on another host than its server: whatever breaks between them,
// the server cannot dial it. TESTED_CUTS asks for another number of cuts than the suite's.
#include "system/lab/lab.h"

#include <cstdio>
#include <regex>

namespace lab_cuts_test {

using namespace plexus::testing;

TEST_CASE("links between hosts that only the client can make are cut in a flood, and nothing is lost") {
    NEEDS_LABS();
    const char* const asked = std::getenv("TESTED_CUTS");
    const std::string cuts = asked == nullptr ? "200" : asked;
    const NetworkFile network(kFastSwitch);
    // Rank 0 waits at a fence for as long as the other one cuts.
    const std::string script = "export PLEXUS_PROGRESS_LOOKUP_TIMEOUT='10 min'; "
                               "case $PLEXUS_JOB_RANK in 0) export PLEXUS_METHOD_TCP_PORT=47000;; "
                               "1) export PLEXUS_METHOD_TCP_LISTEN=loopback;; esac; exec " +
                               std::string(std::getenv("TESTED_ONE_WAY")) + " 47000 " + cuts;
    Command lab(lab_words(network, {"--no-prefix", "--quiet"}, {"sh", "-c", script}));
    CHECK(lab.wait(300s * kPatience) == 0);
    INFO(lab.out() << lab.err());
    REQUIRE(lab.lines().size() == 1);
    if (asked != nullptr) std::printf("%s cuts: %s\n", cuts.c_str(), lab.out().c_str());
    const std::regex line("sent ([0-9]+), called ([0-9]+), answered ([0-9]+); "
                          "came ([0-9]+) and ([0-9]+), ([0-9]+) out of order");
    std::smatch found;
    const std::string said = lab.lines().front();
    REQUIRE(std::regex_match(said, found, line));
    CHECK(found[1] != "0");
    CHECK(found[1] == found[4]);
    CHECK(found[2] != "0");
    CHECK(found[2] == found[3]);
    CHECK(found[2] == found[5]);
    CHECK(found[6] == "0");
    CHECK(lab.left_nothing());
}

} // namespace lab_cuts_test
