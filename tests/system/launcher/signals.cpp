// SPDX-License-Identifier: BSD-3-Clause
// Signals to the launcher are signals to the job.
#include "support/catch.h"
#include "system/launcher/command.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sys/wait.h>

namespace signals_test {

using namespace plexus::testing;

namespace {

/// R, S, T ...: what the kernel says a process does.
char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t after_name = text.rfind(')');
    return after_name == std::string::npos || after_name + 2 >= text.size() ? '-' : text[after_name + 2];
}

} // namespace

TEST_CASE("a signal to the launcher reaches every process") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
        Command job(run_helper({"-n", "3"}, {"await", std::to_string(signal)}));
        INFO(signal);
        REQUIRE(job.says("ready", 3));
        job.kill(signal);
        CHECK(job.wait() == 0); // all of them took it well
        CHECK(count_of(job.out(), "] got " + std::to_string(signal) + "\n") == 3);
        CHECK(job.err().empty());
    }
}

TEST_CASE("a job that dies of the user's signal says nothing and gives its code") {
    Command job(run_helper({"-n", "3"}, {"stubborn"}));
    REQUIRE(job.says("ready", 3));
    job.kill(SIGINT);
    CHECK(job.wait() == 128 + SIGINT);
    CHECK(job.err().empty());
    CHECK(job.left_nothing());
}

TEST_CASE("a job can be stopped and continued") {
    Command job(run_helper({"-n", "2"}, {"await", std::to_string(SIGUSR1)}));
    REQUIRE(job.says("ready", 2));
    const auto ranks = job.ranks();
    REQUIRE(ranks.size() == 2);
    const auto all_in = [&](char state) {
        return std::all_of(ranks.begin(), ranks.end(), [&](pid_t pid) { return state_of(pid) == state; });
    };
    job.kill(SIGTSTP);
    CHECK(eventually(5s, [&] { return state_of(job.pid()) == 'T' && all_in('T'); }));
    job.kill(SIGCONT);
    CHECK(eventually(5s, [&] { return all_in('S'); }));
    job.kill(SIGUSR1);
    CHECK(job.wait() == 0);
    CHECK(count_of(job.out(), "got ") == 2);
}

TEST_CASE("a stopped job can still be ended") {
    Command job(run_helper({"-n", "2"}, {"stubborn"}));
    REQUIRE(job.says("ready", 2));
    for (const pid_t pid : job.ranks()) ::kill(pid, SIGSTOP);
    job.kill(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
    CHECK(job.left_nothing());
}

TEST_CASE("a signal that the user had ignored stays ignored") {
    // nohup's way: SIGHUP is ignored before the launcher starts.
    const auto before = std::signal(SIGHUP, SIG_IGN);
    Command job(run_helper({"-n", "1"}, {"await", std::to_string(SIGUSR1)}));
    std::signal(SIGHUP, before);
    REQUIRE(job.says("ready"));
    job.kill(SIGHUP);
    job.kill(SIGUSR1);
    CHECK(job.wait() == 0);
    CHECK(count_of(job.out(), "got " + std::to_string(SIGUSR1)) == 1);
}

} // namespace signals_test
