// SPDX-License-Identifier: BSD-3-Clause
// Contexts that a process manager starts are a job: ranks, a directory, an end.
#include "support/tmpdir.h"
#include "system/managers/manager.h"

#include <csignal>
#include <cstddef>
#include <deque>
#include <filesystem>

namespace managed_jobs_test {

using namespace plexus::testing;

namespace {

/// `processes` of the helper ask each other who they are, in a ring. `options` are the manager's.
void check_meeting(const Manager& manager, int processes, const Words& options = {}, const Words& more = {}) {
    INFO(manager.title << " -n " << processes);
    Words program{tested_helper(), "meet"};
    program.insert(program.end(), more.begin(), more.end());
    Words words = job_of(manager, processes, program);
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(manager.options.size()), options.begin(),
                 options.end());
    Command job(OtherProgram{manager.program}, words);
    CHECK(job.wait() == 0);
    INFO(job.out() << job.err());
    for (int rank = 0; rank < processes; ++rank)
        CHECK(count_of(job.out(), "rank " + std::to_string(rank) + " of " + std::to_string(processes) +
                                      " met " + std::to_string((rank + 1) % processes) + " in " +
                                      manager.name + "\n") == 1);
    CHECK(job.left_nothing());
}

} // namespace

TEST_CASE("contexts that mpirun starts find each other") {
    NEEDS(mpirun());
    for (const int processes : {1, 4, 16}) check_meeting(mpirun(), processes);
}

TEST_CASE("contexts that mpiexec.hydra starts find each other") {
    NEEDS(hydra());
    for (const int processes : {1, 4, 16}) check_meeting(hydra(), processes);
}

TEST_CASE("contexts that srun starts find each other, by PMIx and by PMI-1") {
    NEEDS(srun_pmix());
    for (const Manager& manager : {srun_pmix(), srun_pmi()})
        for (const int processes : {1, 4, 16}) check_meeting(manager, processes);
}

TEST_CASE("contexts on two nodes of a Slurm find each other") {
    NEEDS(srun_pmix());
    for (const Manager& manager : {srun_pmix(), srun_pmi()})
        for (const char* order : {"block", "cyclic"})
            check_meeting(manager, 5, {"--nodes=2", std::string("--distribution=") + order});
}

TEST_CASE("a key file wins over the key that rank 0 makes") {
    const TmpDir folder;
    const auto file = folder.file("key", "thirty-two bytes that are no good secret");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    for (const Manager& manager : managers()) {
        check_meeting(manager, 4, {}, {"--plexus-job.key_file=" + file.string()});
        // Rank 0 alone has it: the others cannot know the key.
        INFO(manager.title);
        const std::string meet = "exec " + tested_helper() + " meet --plexus-progress.lookup_timeout=1s";
        Command job(OtherProgram{manager.program},
                    job_of(manager, 2, by_rank(meet + " --plexus-job.key_file=" + file.string(), meet)));
        const auto code = job.wait();
        INFO(job.out() << job.err());
        REQUIRE(code);
        CHECK(*code != 0);
        CHECK(count_of(job.err(), "rank 0 has the job's key from a file: set job.key_file for all ranks") ==
              1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("the directory outlives rank 0's contexts until the others have left") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(OtherProgram{manager.program}, job_of(manager, 4, {tested_helper(), "without-rank-0"}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        for (const char* line : {"rank 1 met 2\n", "rank 2 met 3\n", "rank 3 met 1\n"})
            CHECK(count_of(job.out(), line) == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("the directory waits for a late rank, though another one came twice") {
    for (const Manager& manager : managers()) {
        if (manager.name != "PMIx") continue; // with PMI-1 all ranks come at once
        INFO(manager.title);
        Command job(OtherProgram{manager.program}, job_of(manager, 3, {tested_helper(), "one-late"}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), " was there\n") == 3);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("later contexts of a process, and those of its forked child, are in the same job") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(OtherProgram{manager.program}, job_of(manager, 2, {tested_helper(), "again"}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), "child of rank 0 met 1\n") == 1);
        CHECK(count_of(job.out(), "child of rank 1 met 0\n") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("a running job has groups of two, then eight, then three: contexts join by its URL and leave") {
    const TmpDir folder;
    const auto file = folder.file("key", "thirty-two bytes that are no good secret");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(
            OtherProgram{manager.program},
            job_of(manager, 2, {tested_helper(), "elastic", "--plexus-job.key_file=" + file.string()}));
        REQUIRE(job.says(" while it runs\n"));
        const std::size_t at = job.out().find("plexus://");
        const std::string url = job.out().substr(at, job.out().find(' ', at) - at);
        Command top({"top", url, "--prometheus", "--set", "job.key_file=" + file.string()});
        CHECK(top.wait() == 0);
        INFO(top.err());
        CHECK(count_of(top.out(), "plexus_context_fresh{") == 2);
        for (const char* rank : {"0", "1"})
            CHECK(count_of(top.out(), std::string("rank=\"") + rank + "\"") > 0);
        std::deque<Command> guests;
        for (int i = 0; i < 6; ++i)
            guests.emplace_back(OtherProgram{tested_helper()},
                                Words{"guest", url, file.string(), std::to_string(i), i == 0 ? "2" : "1"});
        for (Command& guest : guests) {
            CHECK(guest.wait() == 0);
            INFO(guest.err());
            CHECK(guest.left_nothing());
        }
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), "group of 2: the ranks from 1 on add up to 3\n") == 1);
        CHECK(count_of(job.out(), "group of 8: the ranks from 1 on add up to 36\n") == 1);
        CHECK(count_of(job.out(), "group of 3: the ranks from 1 on add up to 6\n") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("the job has the exit code of a rank that fails") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(OtherProgram{manager.program}, job_of(manager, 2, {tested_helper(), "fail"}));
        CHECK(job.wait() == 7);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("processes end one by one, also with an idle MPI library, and where no context could start") {
    const Words programs[] = {
        {tested_helper(), "in-turn"},
        {tested_mpi_helper(), "in-turn"},
        {tested_helper(), "refused", "--plexus-job.key_file=/nowhere"},
        {tested_mpi_helper(), "refused", "--plexus-job.key_file=/nowhere"},
    };
    for (const Manager& manager : managers())
        for (const Words& program : programs) {
            INFO(manager.title << " " << program[0] << " " << program[1]);
            Command job(OtherProgram{manager.program}, job_of(manager, 3, program));
            CHECK(job.wait() == 0);
            INFO(job.out() << job.err());
            CHECK(count_of(job.out(), " ends\n") == 3);
            CHECK(count_of(job.out(), "/nowhere") == (program[1] == "refused" ? 3 : 0));
            CHECK(job.left_nothing());
        }
}

TEST_CASE("a job whose rank 0 fails ends, though others stay") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(OtherProgram{manager.program}, job_of(manager, 3, {tested_helper(), "fail-0"}));
        const auto code = job.wait();
        INFO(job.out() << job.err());
        REQUIRE(code);
        CHECK(*code != 0);
        CHECK(count_of(job.out(), "rank 0 was there\n") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("mpirun ends a job in which a rank is killed, also while rank 0 waits for the others") {
    NEEDS(mpirun());
    Command job(OtherProgram{mpirun().program}, job_of(mpirun(), 3, {tested_helper(), "die"}));
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(job.left_nothing());
}

TEST_CASE("plexus run inside a job of another launcher starts a job of its own") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        Command job(OtherProgram{manager.program},
                    job_of(manager, 1, {tested_plexus(), "run", "-n", "2", "--", tested_helper(), "meet"}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), "of 2 met 1 in plexus run") == 1);
        CHECK(count_of(job.out(), "of 2 met 0 in plexus run") == 1);
    }
}

TEST_CASE("jobs of sixteen contexts always come together") {
    for (const Manager& manager : managers()) {
        INFO(manager.title);
        for (int round = 0; round < 6; ++round) {
            Command job(OtherProgram{manager.program}, job_of(manager, 16, {tested_helper(), "meet"}));
            const auto code = job.wait(60s);
            INFO(job.out() << job.err());
            REQUIRE(code == 0);
            REQUIRE(count_of(job.out(), "of 16 met ") == 16);
        }
    }
}

} // namespace managed_jobs_test
