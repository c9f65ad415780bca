// SPDX-License-Identifier: BSD-3-Clause
// The verbs and the examples do under each launcher what they do under `plexus run`.
#include "plexus/eco/map.h"
#include "support/tmpdir.h"
#include "system/managers/manager.h"

#include <cstdlib>
#include <filesystem>

namespace managed_programs_test {

using namespace plexus::testing;

namespace {

std::string examples() {
    const char* folder = std::getenv("TESTED_EXAMPLES");
    return folder == nullptr ? std::string() : folder;
}

} // namespace

TEST_CASE("each launcher of others is on this machine") {
    for (const Manager& manager : {mpirun(), hydra(), srun_pmix()}) NEEDS(manager);
    CHECK(managers().size() == 4);
}

TEST_CASE("plexus info names the launcher, and the place in its job") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command info(OtherProgram{manager.program}, job_of(manager, 2, {tested_plexus(), "info"}));
        CHECK(info.wait() == 0);
        INFO(info.out() << info.err());
        const std::string variable = manager.name == "PMIx" ? "PMIX_RANK" : "PMI_FD";
        CHECK(count_of(info.out(), "\nLauncher: " + manager.name + " (" + variable + " is set, by " +
                                       manager.by + "), job ") == 2);
        // All processes are on one host: the directory is on loopback.
        CHECK(count_of(info.out(), ", rank 1 of 2, others may join at plexus://127.0.0.1:") == 1);
        Command json(OtherProgram{manager.program}, job_of(manager, 1, {tested_plexus(), "info", "--json"}));
        CHECK(json.wait() == 0);
        CHECK(count_of(json.out(), "\"launcher\":{\"name\":\"" + manager.name + "\",\"why\":\"" + variable +
                                       " is set, by " + manager.by + "\"") == 1);
    }
}

TEST_CASE("plexus probe measures every pair of a job of each launcher") {
    const TmpDir folder;
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        const std::string file = (folder / "net.toml").string();
        Command probe(OtherProgram{manager.program}, job_of(manager, 3,
                                                            {tested_plexus(), "probe", file, "--per-context",
                                                             "--trips", "1", "--repetitions", "2"}));
        CHECK(probe.wait() == 0);
        INFO(probe.err());
        CHECK(plexus::eco::load_map(file).hosts().size() == 3);
        std::filesystem::remove(file);
    }
}

TEST_CASE("plexus bench collective measures the contexts of a job of each launcher") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command bench(OtherProgram{manager.program},
                      job_of(manager, 4,
                             {tested_plexus(), "bench", "collective", "--operation", "broadcast", "--pattern",
                              "binomial", "--size", "1KiB", "--iterations", "20"}));
        CHECK(bench.wait() == 0);
        INFO(bench.out() << bench.err());
        CHECK(count_of(bench.out(), "\nbroadcast  binomial  1 KiB         4 ") == 1);
    }
}

TEST_CASE("the examples run under each launcher") {
    if (examples().empty()) SKIP_TEST("the examples are not built");
    struct Case {
        const char* program;
        int processes;
        Words options;
        const char* said;
    };
    const Case cases[] = {
        {"hello", 4, {}, "all 4 are here"},
        {"third_process", 3, {}, "rank 2 lit the lamp by shm, as number 2"},
        {"figure3", 3, {}, "node 1 uses it by shm, as number 3"},
        {"choose_method", 2, {}, "automatic again          shm"},
        {"bulk", 3, {}, "2 parts have landed"},
        {"coroutines", 2, {}, "on the event loop: 48.5"},
        {"coupled_climate/coupled_climate",
         4,
         {"--grid", "24x16", "--steps", "8", "--image", "none"},
         "checksum       a3674deb26e1c9fb"},
        {"molecular_dynamics/molecular_dynamics",
         4,
         {"--atoms", "108", "--steps", "20"},
         "digest         65efdf1064fab110"},
        {"ring_balance/ring_balance", 4, {"--rows", "40"}, "Every row was worked on once in each iteration."},
    };
    for (const Case& each : cases) {
        const std::string program = examples() + "/" + each.program;
        if (!std::filesystem::exists(program)) continue; // coupled_climate needs libpng
        for (const Manager& manager : managers()) {
            INFO(manager.title << ": " << each.program);
            Words words{program};
            words.insert(words.end(), each.options.begin(), each.options.end());
            Command job(OtherProgram{manager.program}, job_of(manager, each.processes, words));
            CHECK(job.wait() == 0);
            INFO(job.out() << job.err());
            CHECK(count_of(job.out(), each.said) == 1);
            CHECK(job.left_nothing());
        }
    }
}

} // namespace managed_programs_test
