// SPDX-License-Identifier: BSD-3-Clause
// What a process reads from its launcher's environment.
#include "bootstrap/job.h"
#include "support/catch.h"

#include <cstdlib>

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
    CHECK(refused(kJobKey, ""));
    CHECK(refused(kJobKey, "1234"));
    CHECK(refused(kJobId, "")); // the others are left over
}
