// SPDX-License-Identifier: BSD-3-Clause
// Which launcher the environment speaks of; what rank 0 of a managed job does at its end.
#include "bootstrap/manager/addresses.h"
#include "bootstrap/manager/detect.h"
#include "bootstrap/manager/job_line.h"
#include "bootstrap/manager/join_any.h"
#include "bootstrap/manager/process_manager.h"
#include "bootstrap/manager/process_mapping.h"
#include "support/catch.h"
#include "unit/bootstrap/waiting.h"

#include <asio/ip/tcp.hpp>
#include <cstdlib>
#include <future>
#include <map>

namespace launchers_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;

namespace {

/// Variables for the object's lifetime.
class Environment {
  public:
    explicit Environment(std::map<const char*, const char*> variables)
      : variables_(std::move(variables)) {
        for (const auto& [name, value] : variables_) ::setenv(name, value, 1);
    }
    ~Environment() {
        for (const auto& [name, value] : variables_) ::unsetenv(name);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    const std::map<const char*, const char*> variables_;
};

} // namespace

TEST_CASE("the launcher is recognised by its variables") {
    struct Case {
        std::map<const char*, const char*> variables;
        Launcher launcher;
        const char* why;
    };
    const Case cases[] = {
        {{}, Launcher::none, "none of PLEXUS_JOB_ID, PMIX_RANK and PMI_FD is set"},
        {{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "a"}}, Launcher::pmix, "PMIX_RANK is set"},
        {{{"PMIX_RANK", "0"}}, Launcher::none, "none of PLEXUS_JOB_ID, PMIX_RANK and PMI_FD is set"},
        {{{"PMIX_RANK", ""}, {"PMIX_NAMESPACE", "a"}},
         Launcher::none,
         "none of PLEXUS_JOB_ID, PMIX_RANK and PMI_FD is set"},
        {{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "a"}, {"SLURM_STEP_ID", "0"}},
         Launcher::pmix,
         "PMIX_RANK is set, by Slurm's srun"},
        {{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "a"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"SLURM_STEP_ID", "0"}},
         Launcher::pmix,
         "PMIX_RANK is set, by Open MPI's mpirun"},
        {{{"PMI_FD", "7"}, {"MPI_LOCALNRANKS", "1"}},
         Launcher::pmi,
         "PMI_FD is set, by MPICH's mpiexec.hydra"},
        {{{"PMI_PORT", "h:1"}}, Launcher::pmi, "PMI_PORT is set"},
        {{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "a"}, {"PMI_FD", "7"}}, Launcher::pmix, "PMIX_RANK is set"},
        {{{"PLEXUS_JOB_ID", "1"}, {"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "a"}},
         Launcher::plexus,
         "PLEXUS_JOB_ID is set"},
        {{{"PLEXUS_JOB_RANK", "1"}}, Launcher::plexus, "PLEXUS_JOB_RANK is set"},
        {{{"SLURM_STEP_ID", "0"}},
         Launcher::none,
         "SLURM_STEP_ID is set, but srun offers no PMIx: start with srun --mpi=pmix"},
    };
    for (const Case& each : cases) {
        const Environment here(each.variables);
        const DetectedLauncher detected = detect_launcher("auto");
        INFO(each.why);
        CHECK(detected.kind == each.launcher);
        CHECK(detected.why == each.why);
    }
}

TEST_CASE("the configuration's word for the launcher counts, whatever the environment says") {
    const Environment here({{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "a"}});
    const std::pair<const char*, Launcher> words[] = {{"none", Launcher::none},
                                                      {"plexus", Launcher::plexus},
                                                      {"pmix", Launcher::pmix},
                                                      {"pmi", Launcher::pmi}};
    for (const auto& [word, launcher] : words) {
        CHECK(detect_launcher(word).kind == launcher);
        CHECK(detect_launcher(word).why == std::string("the configuration says launcher = ") + word);
    }
}

TEST_CASE("own addresses are no loopback ones, and are in an own subnet") {
    for (const std::string& address : own_addresses()) {
        INFO(address);
        CHECK_FALSE(address.starts_with("127."));
        CHECK(address != "::1");
        CHECK(is_in_own_subnet(address));
    }
    CHECK(is_in_own_subnet("127.0.0.1"));
    for (const char* nowhere : {"240.0.0.1", "::2", "localhost", ""}) CHECK_FALSE(is_in_own_subnet(nowhere));
}

TEST_CASE("the line of a job fits a request of PMI-1 in Slurm, with the host's name before IPv6 addresses") {
    std::vector<std::string> many{"192.0.2.7"};
    for (int i = 0; i < 64; ++i)
        many.push_back("2001:db8:aaaa:bbbb:cccc:dddd:eeee:1" + std::to_string(100 + i));
    many.push_back("192.0.2.8");
    const std::string name(253, 'n'); // the longest that a host may have
    const auto hosts = hosts_to_tell(many, name);
    REQUIRE(hosts.size() == many.size() + 1);
    CHECK(hosts[1] == "192.0.2.8");
    CHECK(hosts[2] == name);
    const std::string line = job_line(std::string(64, 'f'), hosts, 65535);
    const auto parts = parts_of(line);
    REQUIRE(parts.size() > 8);
    CHECK(parts[0] == std::string(64, 'f'));
    CHECK(parts[1] == "plexus://192.0.2.7:65535");
    CHECK(parts[3] == "plexus://" + name + ":65535");
    // As many as fit, not more.
    const std::string request =
        "cmd=put kvsname=4294967295.4294967295 key=plexus-directory value=" + line + "\n";
    CHECK(request.size() <= kLongestRequest);
    CHECK(line.size() + parts.back().size() + 1 > kLongestLine);
    // One byte decides.
    const std::string one = std::string(",plexus://h:1");
    CHECK(parts_of(job_line(std::string(kLongestLine - one.size(), 'f'), {"h"}, 1)).size() == 2);
    CHECK(parts_of(job_line(std::string(kLongestLine - one.size() + 1, 'f'), {"h"}, 1)).size() == 1);
}

TEST_CASE("PMI-1's list of blocks says how many processes share a host") {
    struct Case {
        const char* mapping;
        std::uint32_t rank, size, local;
    };
    const Case cases[] = {
        {"(vector,(0,1,16))", 3, 16, 16},       // all on one host
        {"(vector,(0,4,1))", 3, 4, 1},          // each on its own
        {"(vector,(0,1,3),(1,1,1))", 2, 4, 3},  // srun -N 2 -n 4
        {"(vector,(0,1,3),(1,1,1))", 3, 4, 1},  //
        {"(vector,(0,2,1))", 0, 5, 3},          // begins again: hosts 0 1 0 1 0
        {"(vector,(0,2,1))", 1, 5, 2},          //
        {"(vector,(0,2,2),(0,1,1))", 4, 10, 6}, // 00 11 0, and again
        {"(vector,(0,0,3),(1,1,2))", 1, 4, 4},  // a block of no hosts
        {"(vector,(0,1,4294967295))", 0, 4, 4}, //
        {"(vector,(0,1,4))", 4, 4, 0},          // no such rank
        {"", 0, 1, 0},                          //
        {"(vector)", 0, 1, 0},                  //
        {"(vector,(0,0,0))", 0, 1, 0},          // would never end
        {"(vector,(0,1,0),(0,0,1))", 0, 1, 0},  //
        {"(vector,(0,1))", 0, 1, 0},            //
        {"(vector,(0,1,1)", 0, 1, 0},           //
        {"(vector,(0,1,1))x", 0, 1, 0},         //
        {"(vector,(0,1,-1))", 0, 1, 0},         //
        {"(vector,(0,1,4294967296))", 0, 1, 0}, //
        {"(matrix,(0,1,1))", 0, 1, 0},          //
    };
    for (const Case& each : cases) {
        INFO(each.mapping << " " << each.rank << " " << each.size);
        CHECK(local_size_of(each.mapping, each.rank, each.size) == each.local);
    }
}

TEST_CASE("a directory is entered also where its address answers late, or refuses us first") {
    const Key key = random_key();
    auto first = DirectoryServer::listen("plexus://127.0.0.1:0", key, 2).value();
    const std::string late_url = first->url();
    auto other_job = DirectoryServer::listen("plexus://127.0.0.1:0", random_key(), 2).value();
    first.reset();
    const auto start = Clock::now();
    auto entered = std::async(std::launch::async, [&] {
        return join_any({other_job->url(), late_url}, key, some_context(), start + 20s * kPatience);
    });
    CHECK(entered.wait_for(3s) == std::future_status::timeout);
    auto late = DirectoryServer::listen(late_url, key, 2).value();
    auto joined = entered.get();
    REQUIRE(joined);
    CHECK((*joined)->publish("here", {}));
}

TEST_CASE("an address that is silent for three seconds has more time in the second round") {
    const Key key = random_key();
    asio::io_context io;
    asio::ip::tcp::acceptor silent(io, {asio::ip::address_v4::loopback(), 0});
    const std::string url = "plexus://127.0.0.1:" + std::to_string(silent.local_endpoint().port());
    const auto start = Clock::now();
    auto refused = join_any({url}, key, some_context(), start + 3s);
    CHECK(refused.status() == Status::timed_out);
    CHECK(Clock::now() - start >= 2s);
    // The first attempt ended after two seconds, and the second attempt connected.
    silent.non_blocking(true);
    int attempts = 0;
    std::error_code none;
    for (;;) {
        const auto attempt = silent.accept(none);
        if (none) break;
        ++attempts;
    }
    CHECK(attempts == 2);
}

TEST_CASE("a directory that refuses us under every address is not asked again") {
    auto one = DirectoryServer::listen("plexus://127.0.0.1:0", random_key(), 2).value();
    auto other = DirectoryServer::listen("plexus://127.0.0.1:0", random_key(), 2).value();
    const auto start = Clock::now();
    const auto refused = join_any({one->url(), other->url()}, random_key(), some_context(), in(20s));
    REQUIRE_FALSE(refused);
    CHECK(refused.status() == Status::denied);
    CHECK(mentions(refused.failure(), one->url()));
    CHECK(mentions(refused.failure(), other->url()));
    CHECK(Clock::now() - start < 2s * kPatience);
    CHECK(join_any({}, random_key(), some_context(), in(20s)).status() == Status::not_found);
}

TEST_CASE("a server waits for the ranks of its job to come, and for its clients to leave") {
    const Key key = random_key();
    auto server = DirectoryServer::listen("plexus://127.0.0.1:0", key, 3).value();
    const auto own = server->local(); // no client
    const auto waiting = [&](std::uint32_t ranks, Clock::time_point all_come) {
        return std::async(std::launch::async,
                          [&, ranks, all_come] { server->wait_for_clients(ranks, all_come); });
    };
    const auto enter = [&](const std::string& name) {
        auto client = join(server->url(), key, some_context(), in(5s)).value();
        client->publish(name, {}).value(); // its answer comes behind the count
        return client;
    };
    // Nobody comes: the time to come ends.
    const auto start = Clock::now();
    waiting(2, start + 200ms).get();
    CHECK(Clock::now() - start >= 200ms);

    auto first = enter(came_name(1));
    auto late = waiting(2, Clock::now()); // for the client that is here alone
    auto both = waiting(2, in(1h));
    CHECK(late.wait_for(100ms) == std::future_status::timeout);
    first.reset();
    CHECK(late.wait_for(10s) == std::future_status::ready);
    CHECK(both.wait_for(100ms) == std::future_status::timeout); // another one is to come
    // A peer without the key is no client.
    CHECK_FALSE(join(server->url(), random_key(), some_context(), in(5s)));
    // Clients that are no new rank of the job: the same rank again, others who say nothing of a rank, or none
    // that there is.
    for (const std::string& name : {came_name(1), std::string("else"), came_name(3), came_name(2) + "x",
                                    came_name(2) + " ", std::string("plexus.came."), std::string("2")})
        enter(name);
    CHECK(both.wait_for(100ms) == std::future_status::timeout);
    auto second = enter(came_name(2));
    CHECK(both.wait_for(100ms) == std::future_status::timeout);
    second.reset();
    CHECK(both.wait_for(10s) == std::future_status::ready);
}

} // namespace launchers_test
