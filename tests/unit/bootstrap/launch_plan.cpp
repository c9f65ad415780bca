// SPDX-License-Identifier: BSD-3-Clause
// What is settled about a job before a process is started.
#include "bootstrap/launch_plan.h"
#include "support/catch.h"
#include "support/tmpdir.h"

#include <cstdlib>

namespace launch_plan_test {

using namespace plexus;
using namespace plexus::bootstrap;
using Words = std::vector<std::string>;

TEST_CASE("a wrapper becomes the command, which is found before and keeps its name") {
    LaunchOptions options;
    options.programs.resize(2);
    options.programs[0].command = {"sh", "-c", "exit"};
    options.programs[1].command = {"sh", "-c", "exit"};
    options.programs[1].wrapper = {"env", "-i"};
    const auto plan = plan_launch(options, "job", "key");
    REQUIRE(plan);
    REQUIRE(plan->processes.size() == 2);
    const PlannedProcess& plain = plan->processes[0];
    const PlannedProcess& wrapped = plan->processes[1];
    CHECK(plain.arguments == Words{"sh", "-c", "exit"});
    CHECK(wrapped.arguments == Words{"env", "-i", plain.path, "-c", "exit"});
    CHECK(wrapped.path.ends_with("/env"));
    CHECK(wrapped.name == "sh");

    options.programs[1].command = {"no-such-program"};
    CHECK(plan_launch(options, "job", "key").failure().status == Status::not_found);
    options.programs[1].command = {"sh"};
    options.programs[1].wrapper = {"no-such-wrapper"};
    const auto refused = plan_launch(options, "job", "key");
    CHECK(refused.failure().why.find("no-such-wrapper") != std::string::npos);
}

TEST_CASE("a job that is started inside a job inherits nothing of it") {
    // Nobody reads these here: a job is looked for when a context starts.
    const char* const outer[] = {"PLEXUS_JOB_ID",         "PLEXUS_JOB_RANK", "PLEXUS_JOB_SIZE",
                                 "PLEXUS_JOB_LOCAL_SIZE", "PLEXUS_JOB_URL",  "PLEXUS_JOB_KEY"};
    for (const char* name : outer) ::setenv(name, "outer", 1);
    LaunchOptions options;
    options.programs.resize(1);
    options.programs[0].command = {"sh"};
    const auto plan = plan_launch(options, "inner", "key");
    for (const char* name : outer) ::unsetenv(name);
    REQUIRE(plan);
    for (const std::string& entry : plan->processes.at(0).environment) {
        CAPTURE(entry);
        CHECK(entry.find("=outer") == std::string::npos);
    }
}

TEST_CASE("a configuration file is for a rank that there is") {
    const plexus::testing::TmpDir folder;
    const std::string file = folder.file("rank.toml", "");
    LaunchOptions options;
    options.programs.resize(1);
    options.programs[0].command = {"sh"};
    options.programs[0].processes = 2;
    options.config_files = {{1, file}};
    CHECK(plan_launch(options, "job", "key"));
    options.config_files = {{2, file}};
    const auto refused = plan_launch(options, "job", "key");
    REQUIRE(refused.status() == Status::bad_argument);
    CHECK(refused.failure().why.find("rank 2, but ranks end at 1") != std::string::npos);
}

} // namespace launch_plan_test
