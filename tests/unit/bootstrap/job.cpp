// SPDX-License-Identifier: BSD-3-Clause
// What a process reads from its launcher's environment.
#include "bootstrap/job.h"
#include "support/catch.h"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace job_test {

using namespace plexus;
using namespace plexus::bootstrap;

namespace {

constexpr const char* kAll[] = {kJobId, kJobRank, kJobSize, kJobLocalSize, kJobUrl, kJobKey};

/// A whole, good environment for its lifetime.
class Environment {
  public:
    Environment() {
        set(kJobId, "0011");
        set(kJobRank, "2");
        set(kJobSize, "4");
        set(kJobLocalSize, "3");
        set(kJobUrl, "plexus://127.0.0.1:1");
        set(kJobKey, std::string(64, '5').c_str());
    }
    ~Environment() {
        for (const char* name : kAll) ::unsetenv(name);
    }
    static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
};

} // namespace

TEST_CASE("without a launcher a process is a job of its own") {
    for (const char* name : kAll) ::unsetenv(name);
    const auto job = Job::from_environment();
    REQUIRE(job);
    CHECK(job->id.empty());
    CHECK(job->rank == 0);
    CHECK(job->size == 1);
    CHECK_FALSE(job->key);
}

TEST_CASE("a launcher's environment is understood") {
    const Environment here;
    const auto job = Job::from_environment();
    REQUIRE(job);
    CHECK(job->id == "0011");
    CHECK(job->rank == 2);
    CHECK(job->size == 4);
    CHECK(job->local_size == 3);
    CHECK(job->url == "plexus://127.0.0.1:1");
    REQUIRE(job->key);
    CHECK(job->key->bytes[31] == 0x55);
}

TEST_CASE("an environment that no launcher writes names the variable") {
    const auto refused = [](const char* name, const char* value) {
        const Environment here;
        Environment::set(name, value);
        const auto job = Job::from_environment();
        return job.status() == Status::bad_config && job.failure().why.find(name) != std::string::npos;
    };
    CHECK(refused(kJobRank, "4"));
    CHECK(refused(kJobRank, "-1"));
    CHECK(refused(kJobRank, "2x"));
    CHECK(refused(kJobRank, ""));
    CHECK(refused(kJobSize, "99999999999"));
    CHECK(refused(kJobLocalSize, "5"));
    CHECK(refused(kJobLocalSize, "0"));
    CHECK(refused(kJobUrl, ""));
    CHECK(refused(kJobKey, "1234"));
    CHECK(refused(kJobId, "")); // the others are left over
}

TEST_CASE("the key is taken out of the environment and kept for this job's other contexts") {
    const Environment here;
    const auto first = Job::from_environment();
    REQUIRE(first);
    REQUIRE(std::getenv(kJobKey) != nullptr); // the array of variables stays as it is
    CHECK(std::getenv(kJobKey) == std::string());
    for (char** entry = environ; *entry != nullptr; ++entry)
        CHECK(std::string_view(*entry).find("5555") == std::string_view::npos);
    CHECK(Job::from_environment()->key == first->key);
    // A launcher inside this process may have started another job.
    Environment::set(kJobKey, std::string(64, '6').c_str());
    CHECK(Job::from_environment()->key->bytes[0] == 0x66);
    CHECK(Job::from_environment()->key->bytes[0] == 0x66);
}

TEST_CASE("a job whose key this process was not given is refused in words") {
    const Environment here;
    REQUIRE(Job::from_environment());
    Environment::set(kJobId, "another");
    const auto refused = Job::from_environment();
    REQUIRE(refused.status() == Status::bad_config);
    CHECK(refused.failure().why.find("PLEXUS_JOB_KEY is missing") != std::string::npos);
    CHECK(refused.failure().why.find("plexus run") != std::string::npos);
}

} // namespace job_test
