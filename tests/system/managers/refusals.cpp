// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong between a process and its process manager, and what `plexus info` says of it.
#include "system/managers/manager.h"

namespace managed_refusals_test {

using namespace plexus::testing;

TEST_CASE("plexus info names the launcher and how it was recognised") {
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
    NEEDS(mpirun());
    Command open_mpi(OtherProgram{mpirun().program}, job_of(mpirun(), 2, {tested_plexus(), "info"}));
    CHECK(open_mpi.wait() == 0);
    CHECK(count_of(open_mpi.out(), "\nLauncher: PMIx (PMIX_RANK is set, by Open MPI's mpirun), job ") == 2);
    CHECK(count_of(open_mpi.out(), ", rank 1 of 2, others may join at plexus://127.0.0.1:") == 1);
    NEEDS(hydra());
    Command mpich(OtherProgram{hydra().program}, job_of(hydra(), 2, {tested_plexus(), "info", "--json"}));
    CHECK(mpich.wait() == 0);
    CHECK(count_of(mpich.out(),
                   "\"launcher\":{\"name\":\"PMI-1\",\"why\":\"PMI_FD is set, by MPICH's mpiexec.hydra\"") ==
          2);
}

TEST_CASE("half a job is a job that waits in vain, with a sentence") {
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        Words words = job_of(manager, 1, {"sleep", "3"});
        words.insert(words.end(),
                     {":", "-n", "1", tested_plexus(), "info", "--plexus-progress.lookup_timeout=1s"});
        Command job(OtherProgram{manager.program}, words);
        CHECK(job.wait() == 3);
        INFO(job.err());
        CHECK(count_of(job.err(), "launcher = \"none\" (PLEXUS_LAUNCHER=none) to start without a job") == 1);
        CHECK(count_of(job.err(), "progress.lookup_timeout") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("with launcher = none the variables of a process manager count for nothing") {
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
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
        CHECK(count_of(info.err(), "PMIX_RANK is set, but the PMIx server of this host gives no answer (") ==
              1);
        CHECK(count_of(info.err(), "PLEXUS_LAUNCHER=none") == 1);
    }
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
