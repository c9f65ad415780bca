// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong between a process and its process manager, and what `plexus info` says of it.
#include "support/tmpdir.h"
#include "system/managers/manager.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <set>

namespace managed_refusals_test {

using namespace plexus::testing;

namespace {

/// What is in a file by now, without a line break at its end.
std::string text_of(const std::string& file) {
    std::ifstream in(file);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

} // namespace

TEST_CASE("plexus info says why no other launcher is at work") {
    {
        Command alone({"info"});
        CHECK(alone.wait() == 0);
        CHECK(count_of(alone.out(),
                       "\nLauncher: none (none of PLEXUS_JOB_ID, PMIX_RANK and PMI_FD is set)\n") == 1);
    }
    {
        Command run({"run", "--no-prefix", "--", tested_plexus(), "info"});
        CHECK(run.wait() == 0);
        CHECK(count_of(run.out(), "\nLauncher: plexus run (PLEXUS_JOB_ID is set), job ") == 1);
    }
    {
        const Variable step("SLURM_STEP_ID", "0");
        Command slurm({"info", "--json"});
        CHECK(slurm.wait() == 0);
        CHECK(count_of(slurm.out(), "srun offers no PMIx: start with srun --mpi=pmix") == 1);
    }
}

TEST_CASE("half a job is a job that waits in vain, with a sentence") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(OtherProgram{manager.program},
                    job_of(manager, 2,
                           by_rank("exec sleep 2",
                                   "exec " + tested_plexus() + " info --plexus-progress.lookup_timeout=1s")));
        CHECK(job.wait() == 3);
        INFO(job.err());
        CHECK(count_of(job.err(), "launcher = \"none\" (PLEXUS_LAUNCHER=none) to start without a job") == 1);
        CHECK(count_of(job.err(), "progress.lookup_timeout") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("a thread may fork while another one waits for the job") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(OtherProgram{manager.program},
                    job_of(manager, 2,
                           by_rank("exec sleep 5", "exec " + tested_helper() +
                                                       " fork-in-half --plexus-progress.lookup_timeout=4s")));
        CHECK(job.wait() == 3);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), "in time, 0\n") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("a process whose job's server ends while it waits learns that at once") {
    const TmpDir folder;
    struct Case {
        Manager manager;
        std::set<std::string> servers; ///< as /proc/PID/comm has them
        const char* said;
    };
    const Case cases[] = {
        {mpirun(),
         {"mpirun.openmpi", "mpirun", "orterun"},
         "the PMIx server of this host has ended, and with it the job "},
        {hydra(), {"mpiexec.hydra", "hydra_pmi_proxy"}, "leads to no process manager ("},
    };
    constexpr int kRounds = 10; // the server may end at any moment of a question
    for (int i = 0; i < kRounds * static_cast<int>(std::size(cases)); ++i) {
        const Case& each = cases[i / kRounds];
        NEEDS(each.manager);
        INFO(each.manager.title << ", round " << i % kRounds);
        const std::string file = (folder / std::to_string(i)).string();
        Command job(OtherProgram{each.manager.program},
                    job_of(each.manager, 2,
                           by_rank("exec sleep 30", "trap '' TERM HUP; " + tested_plexus() +
                                                        " info --plexus-log=info > " + file +
                                                        " 2>&1; echo ended >> " + file)));
        REQUIRE(eventually(
            10s, [&] { return text_of(file).find("process 1 of 2 of the job") != std::string::npos; }));
        // The youngest first: hydra's proxy would kill its processes when mpiexec has gone.
        const std::set<pid_t> all = job.processes();
        for (auto pid = all.rbegin(); pid != all.rend(); ++pid)
            if (each.servers.count(text_of("/proc/" + std::to_string(*pid) + "/comm")) > 0)
                ::kill(*pid, SIGKILL);
        const bool ended = eventually(5s, [&] { return text_of(file).find("\nended") != std::string::npos; });
        const std::string text = text_of(file);
        INFO(text);
        CHECK(ended);
        CHECK(count_of(text, each.said) > 0);
        CHECK(count_of(text, "PLEXUS_LAUNCHER=none") > 0);
    }
}

TEST_CASE("with launcher = none the variables of a process manager count for nothing") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        const Variable none("PLEXUS_LAUNCHER", "none");
        Command job(OtherProgram{manager.program}, job_of(manager, 2, {tested_plexus(), "info"}));
        CHECK(job.wait() == 0);
        CHECK(count_of(job.out(),
                       ", rank 0 of 1\n\nLauncher: none (the configuration says launcher = none)\n") == 2);
    }
}

TEST_CASE("variables that lead to no PMIx server are an error that says what to do") {
    NEEDS(mpirun()); // its package brings the library
    const Variable rank("PMIX_RANK", "0");
    const Variable name("PMIX_NAMESPACE", "1234");
    for (const char* url : {"", "1234.0;tcp4://127.0.0.1:1", "no address at all"}) {
        const Variable server("PMIX_SERVER_URI41", url);
        Command info({"info"});
        CHECK(info.wait() == 3);
        INFO(info.err());
        CHECK(count_of(info.err(), "PMIx is the launcher, but its server on this host gives no answer (") ==
              1);
        CHECK(count_of(info.err(), "PLEXUS_LAUNCHER=none") == 1);
    }
}

TEST_CASE("the launcher pmix without its variables is an error that does not speak of them as set") {
    NEEDS(mpirun()); // its package brings the library
    const Variable wanted("PLEXUS_LAUNCHER", "pmix");
    Command info({"info"});
    CHECK(info.wait() == 3);
    INFO(info.err());
    CHECK(count_of(info.err(), "PMIx is the launcher, but its server on this host gives no answer (") == 1);
    CHECK(count_of(info.err(), "PMIX_RANK is set") == 0);
}

TEST_CASE("variables that lead to no PMI-1 server are an error that says what to do") {
    struct Case {
        const char *fd, *rank, *size, *said;
    };
    const Case cases[] = {
        {"77", "0", "2", "PMI_FD=77 leads to no process manager (Bad file descriptor)"},
        {"0", "0", "2", "PMI_FD=0 leads to no process manager ("},
        {"x", "0", "2", "PMI_FD=\"x\" is not a number"},
        {"0", "", "2", "PMI_RANK=\"\" is not a number"},
        {"0", "0", "-1", "PMI_SIZE=\"-1\" is not a number"},
        {"0", "2", "2", "PMI_RANK=2 is not below PMI_SIZE=2"},
    };
    for (const Case& each : cases) {
        INFO(each.said);
        const Variable fd("PMI_FD", each.fd);
        const Variable rank("PMI_RANK", each.rank);
        const Variable size("PMI_SIZE", each.size);
        Command info({"info"});
        CHECK(info.wait() == 3);
        CHECK(count_of(info.err(), each.said) == 1);
        CHECK(count_of(info.err(), "PLEXUS_LAUNCHER=none") == 1);
    }
    const Variable port("PMI_PORT", "host:1");
    Command info({"info"});
    CHECK(info.wait() == 3);
    CHECK(count_of(info.err(), "PMI_PORT is not supported: start mpiexec without -pmi-port") == 1);
}

} // namespace managed_refusals_test
