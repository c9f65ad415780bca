// SPDX-License-Identifier: BSD-3-Clause
// What Slurm alone does: cancelled jobs, steps without PMI, and that the tests' own Slurm ends.
#include "system/managers/slurm.h"

#include "system/managers/manager.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace managed_slurm_test {

using namespace plexus::testing;

namespace {

const OtherProgram kEnv{"/usr/bin/env"};

/// Processes whose command line or environment names `folder`.
int processes_of(const std::string& folder) {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored))
        for (const char* file : {"cmdline", "environ"}) {
            std::ifstream in(entry.path() / file, std::ios::binary);
            const std::string text(std::istreambuf_iterator<char>(in), {});
            count += text.find(folder) != std::string::npos ? 1 : 0;
        }
    return count;
}

} // namespace

TEST_CASE("scancel ends a job in mid run, also its rank 0 that waits for the others") {
    NEEDS(srun_pmix());
    for (const Manager& manager : {srun_pmix(), srun_pmi()}) {
        INFO(manager.title);
        Words words = job_of(manager, 4, {tested_helper(), "stay"});
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(manager.options.size()), "--job-name=stays");
        Command job(kEnv, words);
        REQUIRE(job.says(" stays\n", 4));
        Command cancel(kEnv, shared_slurm().words({"scancel", "--name=stays"}));
        CHECK(cancel.wait() == 0);
        const auto code = job.wait(10s);
        INFO(job.err());
        REQUIRE(code);
        CHECK(*code != 0);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("srun without PMI starts contexts of their own, and info says why") {
    NEEDS(srun_pmix());
    Command job(kEnv,
                shared_slurm().words({"srun", "--quiet", "--mpi=none", "-n", "2", tested_plexus(), "info"}));
    CHECK(job.wait() == 0);
    INFO(job.out() << job.err());
    CHECK(count_of(job.out(),
                   ", rank 0 of 1\n\nLauncher: none (SLURM_STEP_ID is set, but srun offers no PMIx: start "
                   "with srun --mpi=pmix)\n") == 2);
}

TEST_CASE("a Slurm of the tests leaves no process and no file, also with a job that still runs") {
    std::string folder;
    std::optional<Command> job; // ended by Slurm, not by its own end
    {
        const Slurm slurm;
        if (!slurm.why_not().empty()) SKIP_TEST(slurm.why_not());
        folder = slurm.folder();
        job.emplace(kEnv, slurm.words({"srun", "--quiet", "-n", "2", tested_helper(), "stay"}));
        REQUIRE(job->says(" stays\n", 2));
        CHECK(processes_of(folder) > 0);
    }
    CHECK(job->wait(5s));
    CHECK(eventually(5s, [&] { return processes_of(folder) == 0; }));
    CHECK_FALSE(std::filesystem::exists(folder));
}

} // namespace managed_slurm_test
