// SPDX-License-Identifier: BSD-3-Clause
// What is settled about a job before a process is started.
#include "bootstrap/launch_plan.h"
#include "support/catch.h"

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

} // namespace launch_plan_test
