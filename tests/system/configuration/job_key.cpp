// SPDX-License-Identifier: BSD-3-Clause
// The job's key reaches every process of the job, through whatever starts it, and goes no further.
#include "support/catch.h"
#include "system/launcher/command.h"

#include <cstdlib>

namespace job_key_test {

using namespace plexus::testing;

namespace {

void check_member(const Command& job, int members) {
    CHECK(count_of(job.out(), "given 64 digits") == members);
    CHECK(count_of(job.out(), "variable gone") == members);
    CHECK(count_of(job.out(), "environ clean") == members);
    CHECK(count_of(job.out(), "child [] rank") == members);
    CHECK(count_of(job.out(), "child clean") == members);
    CHECK(count_of(job.out(), "met") == members);
}

} // namespace

TEST_CASE(
    "no process that a member of a job starts sees the key, nor does the member's own environment show it") {
    Command job(run_helper({"-n", "2"}, {"key"}));
    CHECK(job.wait() == 0);
    INFO(job.out() + job.err());
    check_member(job, 2);
    for (const char* place : {"first 0 of 2, second 0 of 2", "first 1 of 2, second 1 of 2", "third 0 of 2"})
        CHECK(count_of(job.out(), place) == 1);
    CHECK(job.err().empty());
}

TEST_CASE("the key reaches a member through a shell and through programs that start others") {
    const std::string helper = std::getenv("TESTED_HELPER");
    for (const Words& wrapper : {Words{"env", "A=b", helper, "key"}, Words{"setarch", "-R", helper, "key"},
                                 Words{"sh", "-c", "exec 3<&- 4<&- 5<&-; \"$0\" key; exit $?", helper}}) {
        Words words{"run", "-n", "1", "--"};
        words.insert(words.end(), wrapper.begin(), wrapper.end());
        Command job(words);
        CHECK(job.wait() == 0);
        INFO(wrapper[0] + ": " + job.out() + job.err());
        check_member(job, 1);
    }
}

} // namespace job_key_test
