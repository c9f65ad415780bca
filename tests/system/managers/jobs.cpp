// SPDX-License-Identifier: BSD-3-Clause
// Contexts that a process manager starts are a job: ranks, a directory, an end.
#include "support/tmpdir.h"
#include "system/managers/manager.h"

#include <csignal>
#include <filesystem>

namespace managed_jobs_test {

using namespace plexus::testing;

namespace {

void check_meeting(const Manager& manager, const Words& prefix, const Words& more) {
    Words program = prefix;
    program.insert(program.end(), {tested_helper(), "meet"});
    program.insert(program.end(), more.begin(), more.end());
    Command job(OtherProgram{manager.program}, job_of(manager, 4, program));
    CHECK(job.wait() == 0);
    INFO(job.out() << job.err());
    for (int rank = 0; rank < 4; ++rank)
        CHECK(count_of(job.out(), "rank " + std::to_string(rank) + " of 4 met " +
                                      std::to_string((rank + 1) % 4) + " in " + manager.name + "\n") == 1);
    CHECK(job.left_nothing());
}

} // namespace

TEST_CASE("contexts that mpirun starts find each other") {
    NEEDS(mpirun());
    check_meeting(mpirun(), {}, {});
}

TEST_CASE("contexts that mpiexec.hydra starts find each other") {
    NEEDS(hydra());
    check_meeting(hydra(), {}, {});
}

TEST_CASE("a key file wins over the key that rank 0 makes") {
    const TmpDir folder;
    const auto file = folder.file("key", "thirty-two bytes that are no good secret");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        check_meeting(manager, {}, {"--plexus-job.key_file=" + file.string()});
        // Rank 0 alone has it: the others cannot know the key.
        const std::string patience = "--plexus-progress.lookup_timeout=2s";
        Words words =
            job_of(manager, 1, {tested_helper(), "meet", patience, "--plexus-job.key_file=" + file.string()});
        words.insert(words.end(), {":", "-n", "1", tested_helper(), "meet", patience});
        Command job(OtherProgram{manager.program}, words);
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
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        Command job(OtherProgram{manager.program}, job_of(manager, 4, {tested_helper(), "without-rank-0"}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        for (const char* line : {"rank 1 met 2\n", "rank 2 met 3\n", "rank 3 met 1\n"})
            CHECK(count_of(job.out(), line) == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("later contexts of a process, and those of its forked child, are in the same job") {
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        Command job(OtherProgram{manager.program}, job_of(manager, 2, {tested_helper(), "again"}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), "child of rank 0 met 1\n") == 1);
        CHECK(count_of(job.out(), "child of rank 1 met 0\n") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("contexts from outside join a running job by its URL, and leave it") {
    const TmpDir folder;
    const auto file = folder.file("key", "thirty-two bytes that are no good secret");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        Command job(OtherProgram{manager.program}, job_of(manager, 2,
                                                          {tested_helper(), "guests", file.string(),
                                                           "--plexus-job.key_file=" + file.string()}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), "there are 2, then 8, then 3\n") == 1);
        CHECK(job.left_nothing());
    }
}

TEST_CASE("the job has the exit code of a rank that fails") {
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        Command job(OtherProgram{manager.program}, job_of(manager, 2, {tested_helper(), "fail"}));
        CHECK(job.wait() == 7);
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
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        Command job(OtherProgram{manager.program},
                    job_of(manager, 1, {tested_plexus(), "run", "-n", "2", "--", tested_helper(), "meet"}));
        CHECK(job.wait() == 0);
        INFO(job.out() << job.err());
        CHECK(count_of(job.out(), "of 2 met 1 in plexus run") == 1);
        CHECK(count_of(job.out(), "of 2 met 0 in plexus run") == 1);
    }
}

TEST_CASE("twenty jobs of sixteen contexts all come together") {
    for (const Manager& manager : {mpirun(), hydra()}) {
        NEEDS(manager);
        for (int round = 0; round < 10; ++round) {
            Command job(OtherProgram{manager.program}, job_of(manager, 16, {tested_helper(), "meet"}));
            const auto code = job.wait(60s);
            INFO(job.out() << job.err());
            REQUIRE(code == 0);
            REQUIRE(count_of(job.out(), "of 16 met ") == 16);
        }
    }
}

} // namespace managed_jobs_test
