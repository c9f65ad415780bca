// SPDX-License-Identifier: BSD-3-Clause
// A job in a lab is a job: ranks, output, exit codes, signals; and its hosts are strangers.
#include "system/lab/lab.h"

#include <csignal>
#include <fstream>
#include <iterator>

namespace job_test {

using namespace plexus::testing;

TEST_CASE("contexts on two hosts reach each other by tcp, on one host by shared memory") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(lab_words(network, {"--hosts", "h1*2,h2"}, {std::getenv("TESTED_HELLO")}));
    CHECK(lab.wait() == 0);
    INFO(lab.out() << lab.err());
    CHECK(count_of(lab.out(), "hello from rank 1, by shm") == 1);
    CHECK(count_of(lab.out(), "hello from rank 2, by tcp") == 1);
    CHECK(lab.left_nothing());
}

TEST_CASE("each host has its own name, address and shared memory") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    const std::string script =
        "echo $(hostname) > /dev/shm/$(hostname); sleep 0.3; "
        "echo host $(hostname) has $(ls /dev/shm) and $(grep -c 10.77 /etc/hosts) names";
    Command lab(lab_words(network, {}, {"sh", "-c", script}));
    CHECK(lab.wait() == 0);
    INFO(lab.out() << lab.err());
    CHECK(count_of(lab.out(), "[0] host h1 has h1 and 3 names\n") == 1);
    CHECK(count_of(lab.out(), "[1] host h2 has h2 and 3 names\n") == 1);
}

TEST_CASE("the exit code of a lab is that of its job, whatever that is") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    const std::pair<std::string, int> cases[] = {{"exit 0", 0},
                                                 {"exit 7", 7},
                                                 {"kill -9 $$", 137},
                                                 {"test $PLEXUS_JOB_RANK = 0 || exit 5; sleep 60", 5}};
    for (const auto& [script, code] : cases) {
        INFO(script);
        Command lab(lab_words(network, {}, {"sh", "-c", script}));
        CHECK(lab.wait() == code);
        CHECK(lab.left_nothing());
    }
    Command missing(lab_words(network, {}, {"/no/such/program"}));
    CHECK(missing.wait() == 3);
    CHECK(missing.err().find("/no/such/program") != std::string::npos);
}

TEST_CASE("signals reach the job, and input the first rank") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(
        lab_words(network, {},
                  {"sh", "-c", "trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 0.05; done"}));
    REQUIRE(lab.says("ready", 2));
    lab.kill(SIGUSR1);
    CHECK(lab.wait() == 0); // one that failed would end the other before its turn
    CHECK(count_of(lab.out(), "got it") == 2);
    for (const int signal : {SIGINT, SIGTERM}) {
        Command stays(lab_words(network, {}, {helper(), "stay"}));
        REQUIRE(stays.says("ready", 2));
        stays.kill(signal);
        CHECK(stays.wait() == 128 + signal);
        CHECK(stays.left_nothing());
    }
    Command reads(lab_words(network, {}, {"cat"}), "from outside\n");
    CHECK(reads.wait() == 0);
    CHECK(reads.out() == "[0] from outside\n");
}

TEST_CASE("one program alone on a host has no part in a job, and can enter other hosts") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    const std::string plexus = std::getenv("TESTED_PLEXUS");
    const std::string script = "echo $(hostname) ${PLEXUS_JOB_RANK:-no} rank; " + plexus +
                               " lab enter --shell h2 'echo also on' '$(hostname)'";
    for (const std::string host : {"h1", "lab"}) {
        Command lab(lab_words(network, {"--on", host}, {"sh", "-c", script}));
        CHECK(lab.wait() == 0);
        INFO(lab.err());
        CHECK(lab.out() == host + " no rank\nalso on h2\n");
    }
}

TEST_CASE("what is wrong with a command line or a network is said before anything is made") {
    const NetworkFile network(kOneSwitch);
    const NetworkFile broken("[[segment]]\nname = 1\n");
    const std::pair<Words, int> cases[] = {
        {{"lab"}, 2},
        {{"lab", network.path()}, 2},
        {{"lab", network.path(), "--no-such", "--", "true"}, 2},
        {{"lab", network.path(), "--hosts", "h9", "--", "true"}, 2},
        {{"lab", network.path(), "--on", "h9", "--", "true"}, 2},
        {{"lab", "no-such-network", "--", "true"}, 3},
        {{"lab", broken.path(), "--", "true"}, 3},
        {{"lab", "enter", "h1"}, 2},
        {{"lab", "enter", "h1", "true"}, 3},
        {{"lab", "ctl", "--lab", "x", "reset"}, 2},
        {{"lab", "ctl", "--lab", "1", "reset"}, 3},
    };
    for (const auto& [words, code] : cases) {
        Command lab(words);
        CHECK(lab.wait() == code);
        INFO(lab.err());
        CHECK(lab.err().starts_with("plexus lab: "));
        CHECK(lab.out().empty());
    }
    Command list({"lab", "list"});
    CHECK(list.wait() == 0);
    for (const char* name : {"eco1996-dome", "eco1996-ethernet", "flat", "grid5000", "two-clusters"})
        CHECK(count_of(list.out(), std::string(name) + " ") == 1);
}

} // namespace job_test
