// SPDX-License-Identifier: BSD-3-Clause
// Exit codes and messages: of a job, and of a job that never was.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"

#include <csignal>

namespace codes_test {

using namespace plexus::testing;

namespace {

struct Refusal {
    Words words;
    int code;
    std::string part; ///< of what it says
};

} // namespace

TEST_CASE("one that fails ends all, with its exit code and its rank named") {
    Command job(run_helper({"-n", "4"}, {"exit", "7", "2"}));
    const auto start = std::chrono::steady_clock::now();
    CHECK(job.wait() == 7);
    CHECK(std::chrono::steady_clock::now() - start < 2s * kPatience); // SIGTERM was enough
    CHECK(count_of(job.err(), "plexus run: rank 2 (") == 1);
    CHECK(count_of(job.err(), "exited with code 7; the job ends\n") == 1);
    CHECK(count_of(job.err(), "\n") == 1);
    CHECK(job.left_nothing());
}

TEST_CASE("one that dies of a signal ends all") {
    Command job(run_helper({"-n", "3"}, {"die", std::to_string(SIGKILL), "1"}));
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(count_of(job.err(), "rank 1 (") == 1);
    CHECK(count_of(job.err(), "was killed by signal 9 (Killed)") == 1);
    CHECK(job.left_nothing());
}

TEST_CASE("one that ends well leaves the others alone") {
    Command job(run_helper({"-n", "2"}, {"exit", "0", "1"}));
    REQUIRE(job.says("ready", 2));
    // Rank 1 has ended when its process is gone: launcher, subreaper and rank 0 are left.
    CHECK(eventually(10s, [&] { return job.processes().size() == 3; }));
    CHECK_FALSE(job.wait(100ms));
    job.kill(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
    CHECK(job.err().empty()); // the user asked for it
    CHECK(job.left_nothing());
}

TEST_CASE("those that do not heed SIGTERM are killed after the grace time") {
    Command job(run_helper({"-n", "2", "--grace", "0.2"}, {"stubborn", std::to_string(SIGTERM)}));
    REQUIRE(job.says("ready", 2));
    const auto start = std::chrono::steady_clock::now();
    ::kill(*job.ranks().begin(), SIGUSR1);
    CHECK(job.wait() == 128 + SIGUSR1);
    CHECK(std::chrono::steady_clock::now() - start < 5s * kPatience);
    CHECK(job.left_nothing());
}

TEST_CASE("a job that cannot be started says what is missing") {
    const TmpDir folder;
    const std::string not_a_program = folder.file("data", "no program");
    const std::string no_interpreter = folder.file("script", "#!/no/such/interpreter\n");
    std::filesystem::permissions(no_interpreter, std::filesystem::perms::owner_all);
    const Refusal refusals[] = {
        {{"run"}, 2, "there is no program"},
        {{"run", "-n", "2"}, 2, "there is no program"},
        {{"run", "-n", "0", "true"}, 2, "-n"},
        {{"run", "-n", "many", "true"}, 2, "many"},
        {{"run", "--nonsense", "true"}, 2, "--nonsense"},
        {{"run", "true", ":", "--grace", "1", "true"}, 2, "--grace"},
        {{"run", "true", ":"}, 2, "there is no program"},
        {{"run", "-x", "NO_SUCH_VARIABLE", "true"}, 2, "NO_SUCH_VARIABLE"},
        {{"run", "-x", "=1", "true"}, 2, "NAME=VALUE"},
        {{"run", "--set", "sndbuf", "true"}, 2, "KEY=VALUE"},
        {{"run", "--set", "Method TCP=1", "true"}, 2, "Method TCP"},
        {{"run", "--per-process-config", "4:" + not_a_program, "true"}, 2, "rank 4"},
        {{"run", "--per-process-config", "0:none.toml", "true"}, 3, "none.toml"},
        {{"run", "no-such-program"}, 3, "\"no-such-program\" cannot be found in the folders of PATH"},
        {{"run", "-n", "2", "true", ":", "/no/such/program"}, 3, "/no/such/program"},
        {{"run", not_a_program}, 3, "not a program"},
        {{"run", folder.path()}, 3, "not a program"},
        {{"run", "-n", "2", no_interpreter}, 3, "cannot be started: " + no_interpreter},
    };
    for (const Refusal& refusal : refusals) {
        Command job(refusal.words);
        INFO(refusal.part);
        CHECK(job.wait() == refusal.code);
        CHECK(job.err().starts_with("plexus run: "));
        CHECK(job.err().find(refusal.part) != std::string::npos);
        CHECK(count_of(job.err(), "\n") == 1);
        CHECK(job.out().empty());
        CHECK(job.left_nothing());
    }
}

TEST_CASE("help and version are answers, an unknown verb is not") {
    Command help({"run", "--help"});
    CHECK(help.wait() == 0);
    CHECK(count_of(help.out(), "--per-process-config") == 1);
    Command all({"--help"});
    CHECK(all.wait() == 0);
    CHECK(count_of(all.out(), "  run ") == 1);
    Command version({"--version"});
    CHECK(version.wait() == 0);
    CHECK(version.out().starts_with("plexus "));
    Command unknown({"ruin"});
    CHECK(unknown.wait() == 2);
    CHECK(count_of(unknown.err(), "\"ruin\"") == 1);
    Command nothing({});
    CHECK(nothing.wait() == 2);
}

} // namespace codes_test
