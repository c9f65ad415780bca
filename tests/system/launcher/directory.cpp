// SPDX-License-Identifier: BSD-3-Clause
// The job's directory: its processes meet there, and nobody else gets in.
#include "bootstrap/directory.h"
#include "support/catch.h"
#include "system/launcher/command.h"

#include <csignal>

namespace directory_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

std::string value_in(const std::string& line, const std::string& name) {
    const std::size_t start = line.find(name + "=") + name.size() + 1;
    return line.substr(start, line.find_first_of(" \n", start) - start);
}

} // namespace

TEST_CASE("the processes of a job find each other and leave together") {
    Command job(run_helper({"-n", "8"}, {"meet"}));
    CHECK(job.wait() == 0);
    for (int rank = 0; rank < 8; ++rank)
        CHECK(count_of(job.out(), "found word of " + std::to_string(rank) + "\n") == 1);
    CHECK(job.err().empty());
}

TEST_CASE("every job has an id and a key of its own") {
    const Words words =
        run_helper({"-n", "2"}, {"show", "PLEXUS_JOB_ID", "PLEXUS_JOB_KEY", "PLEXUS_JOB_LOCAL_SIZE"});
    Command first(words);
    Command second(words);
    CHECK(first.wait() == 0);
    CHECK(second.wait() == 0);
    const auto same_in_both_ranks = [](const Command& job, const char* name) {
        return value_in(job.lines().at(0), name) == value_in(job.lines().at(1), name);
    };
    for (const char* name : {"PLEXUS_JOB_ID", "PLEXUS_JOB_KEY"}) {
        CHECK(same_in_both_ranks(first, name));
        CHECK(value_in(first.out(), name) != value_in(second.out(), name));
        CHECK(value_in(first.out(), name).size() >= 16);
    }
    CHECK(value_in(first.out(), "PLEXUS_JOB_LOCAL_SIZE") == "2");
}

TEST_CASE("a stranger does not get into a job, and its port is closed with it") {
    Words words = run_helper({"-n", "1"}, {"show", "PLEXUS_JOB_URL"});
    const Words second = run_helper({"-n", "1"}, {"await", std::to_string(SIGUSR1)});
    words.push_back(":");
    words.insert(words.end(), second.begin() + 1, second.end());
    Command job(words);
    REQUIRE(job.says("ready"));
    REQUIRE(job.says("PLEXUS_JOB_URL="));
    const std::string url = value_in(job.out(), "PLEXUS_JOB_URL");
    const auto try_it = [&] {
        return bootstrap::join(url, bootstrap::random_key(), ContextId{{1}}, Clock::now() + 5s).status();
    };
    CHECK(try_it() == Status::denied);
    job.kill(SIGUSR1);
    CHECK(job.wait() != std::nullopt);
    CHECK(try_it() == Status::not_found);
}

} // namespace directory_test
