// SPDX-License-Identifier: BSD-3-Clause
// Nothing of a job survives its launcher, however that ends.
#include "support/catch.h"
#include "system/launcher/command.h"

#include <csignal>
#include <filesystem>

namespace left_behind_test {

using namespace plexus::testing;

namespace {

const Words kStubborn{"stubborn", std::to_string(SIGTERM), std::to_string(SIGINT), std::to_string(SIGHUP)};

} // namespace

TEST_CASE("a launcher that is killed takes its job along") {
    Command job(run_helper({"-n", "4"}, kStubborn));
    REQUIRE(job.says("ready", 4));
    CHECK(job.processes().size() == 6); // with launcher and subreaper
    job.kill(SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(job.left_nothing());
}

TEST_CASE("orphans of a process that runs away in a session of its own are found too") {
    Command job(run_helper({"-n", "2"}, {"orphan", "stay"}));
    REQUIRE(job.says("ready", 2));
    REQUIRE(job.says("orphan", 2));
    job.kill(SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(job.left_nothing());
}

TEST_CASE("a job that ends well leaves no orphans") {
    Command job(run_helper({"-n", "3"}, {"orphan", "leave"}));
    CHECK(job.wait() == 0);
    CHECK(job.left_nothing());
}

TEST_CASE("a subreaper that is killed is noticed and the job ends") {
    Command job(run_helper({"-n", "3"}, kStubborn));
    REQUIRE(job.says("ready", 3));
    const pid_t subreaper = job.subreaper();
    REQUIRE(subreaper > 0);
    ::kill(subreaper, SIGKILL);
    CHECK(job.wait() == 3);
    CHECK(count_of(job.err(), "watches over the job was killed") == 1);
    CHECK(job.left_nothing());
}

TEST_CASE("a launcher that is killed while it starts the job leaves nothing") {
    for (int round = 0; round < 10; ++round) {
        Command job(run_helper({"-n", "8"}, kStubborn));
        // Each round a little later, from before the first process to after the last.
        CHECK_FALSE(job.wait(std::chrono::milliseconds(2 * round)));
        job.kill(SIGKILL);
        CHECK(job.wait() == 128 + SIGKILL);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("a launcher leaves no shared memory behind") {
    const auto entries = [] {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
            if (entry.path().filename().string().find("plexus") != std::string::npos)
                names.insert(entry.path());
        return names;
    };
    const auto before = entries();
    Command job(run_helper({"-n", "4"}, {"meet"}));
    CHECK(job.wait() == 0);
    for (const std::string& name : entries()) CHECK(before.count(name) == 1);
}

} // namespace left_behind_test
