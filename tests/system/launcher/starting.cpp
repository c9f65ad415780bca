// SPDX-License-Identifier: BSD-3-Clause
// What the processes of a job are given: rank, environment, arguments, configuration,
// standard input. And how soon.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"

#include <algorithm>

namespace starting_test {

using namespace plexus::testing;

TEST_CASE("each process gets its rank and the size of the job") {
    Command job(run_helper({"-n", "4"}, {"show"}));
    CHECK(job.wait() == 0);
    auto lines = job.lines();
    std::sort(lines.begin(), lines.end());
    CHECK(lines == Words{"[0] 0/4", "[1] 1/4", "[2] 2/4", "[3] 3/4"});
    CHECK(job.err().empty());
    CHECK(job.left_nothing());
}

TEST_CASE("ranks are counted through all programs of a job") {
    Words words = run_helper({"-n", "2", "-x", "ALL=a", "-x", "OWN=first"}, {"show", "ALL", "OWN"});
    const Words second = run_helper({"-n", "3", "-x", "OWN=second", "--"}, {"show", "OWN", "ALL"});
    words.push_back(":");
    words.insert(words.end(), second.begin() + 1, second.end());
    Command job(words);
    CHECK(job.wait() == 0);
    auto lines = job.lines();
    std::sort(lines.begin(), lines.end());
    CHECK(lines == Words{"[0] 0/5 ALL=a OWN=first", "[1] 1/5 ALL=a OWN=first", "[2] 2/5 OWN=second ALL=a",
                         "[3] 3/5 OWN=second ALL=a", "[4] 4/5 OWN=second ALL=a"});
}

TEST_CASE("settings and configuration files reach the processes they are for") {
    const TmpDir folder;
    const std::string one = folder.file("one.toml", "");
    const std::string two = folder.file("two.toml", "");
    Command job(run_helper({"-n", "3", "--set", "method.tcp.skip_poll=20", "--per-process-config",
                            one + "," + one, "--per-process-config", "1:" + two},
                           {"show", "PLEXUS_METHOD_TCP_SKIP_POLL", "PLEXUS_CONFIG"}));
    CHECK(job.wait() == 0);
    CHECK(count_of(job.out(), "PLEXUS_METHOD_TCP_SKIP_POLL=20") == 3);
    CHECK(count_of(job.out(), "[0] 0/3 PLEXUS_METHOD_TCP_SKIP_POLL=20 PLEXUS_CONFIG=" + one) == 1);
    CHECK(count_of(job.out(), "[1] 1/3 PLEXUS_METHOD_TCP_SKIP_POLL=20 PLEXUS_CONFIG=" + two) == 1);
    CHECK(count_of(job.out(), "PLEXUS_CONFIG=-") == 1);
}

TEST_CASE("the program's own words are left alone") {
    Command job(
        run_helper({"-n", "1", "--"}, {"arguments", "-n", "5", "--help", "--", "a b", "", "--set=x"}));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "[0] <-n><5><--help><--><a b><><--set=x>\n");
    Command unmarked(run_helper({"-n", "1"}, {"arguments", "-n", "5", "--", "-x"}));
    CHECK(unmarked.wait() == 0);
    CHECK(unmarked.out() == "[0] <-n><5><--><-x>\n");
}

TEST_CASE("rank 0 reads the standard input and the others find none") {
    const std::string text = "one\ntwo\nthree\n";
    Command job(run_helper({"-n", "3"}, {"copy"}), text);
    CHECK(job.wait() == 0);
    CHECK(count_of(job.out(), "[0] two\n") == 1);
    CHECK(count_of(job.out(), "[0] bytes 14\n") == 1);
    CHECK(count_of(job.out(), "] bytes 0\n") == 2);
}

TEST_CASE("a process can be tied to a processor and still runs") {
    Command job(run_helper({"-n", "3", "--bind-to", "core"}, {"show"}));
    CHECK(job.wait() == 0);
    CHECK(job.lines().size() == 3);
}

TEST_CASE("a job inside a job is a job of its own") {
    const Words inner = run_helper({"-n", "2", "--no-prefix"}, {"show"});
    Words words{"run", "-n", "2", std::getenv("TESTED_PLEXUS")};
    words.insert(words.end(), inner.begin(), inner.end());
    Command job(words);
    CHECK(job.wait() == 0);
    CHECK(count_of(job.out(), "0/2\n") == 2);
    CHECK(count_of(job.out(), "1/2\n") == 2);
    CHECK(job.left_nothing());
}

TEST_CASE("sixteen processes start and end within a second") {
    auto best = std::chrono::steady_clock::duration::max();
    for (int round = 0; round < 5 && best >= 1s * kPatience; ++round) { // others may use the machine
        const auto start = std::chrono::steady_clock::now();
        Command job(run_helper({"-n", "16"}, {"show"}));
        CHECK(job.wait() == 0);
        best = std::min(best, std::chrono::steady_clock::now() - start);
        CHECK(job.lines().size() == 16);
    }
    CHECK(best < 1s * kPatience);
}

} // namespace starting_test
