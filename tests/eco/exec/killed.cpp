// SPDX-License-Identifier: BSD-3-Clause
// Members in processes of their own; one of them is killed inside a collective.
#include "eco/exec/party.h"
#include "support/process.h"
#include "support/tmpdir.h"

#include <csignal>
#include <cstring>
#include <functional>
#include <sys/stat.h>

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

constexpr Rank kMembers = 4;
constexpr Rank kVictim = 2;

/// What the others see when the victim dies: empty if it is what they should. `ready` is called
/// when all of them are through with everything that they need the victim for.
std::string survive(const Group& all, const std::function<void()>& ready) {
    const Group rest = all.split(all.rank() == kVictim ? Group::kNoColour : 0);
    std::vector<double> data(1000, 1);
    all.all_reduce(std::span(data), std::plus<>{});
    if (data.back() != kMembers) return "the sum is wrong";
    if (all.rank() == kVictim) { // waits for its end
        for (;;) std::this_thread::sleep_for(kLimit);
    }
    rest.barrier();
    ready();
    try {
        all.all_reduce(std::span(data), std::plus<>{});
        return "nothing was thrown";
    } catch (const Error& error) {
        if (error.status() != Status::peer_lost) return std::string("it threw ") + error.what();
        if (std::string_view(error.what()).find("member 2 ") == std::string_view::npos)
            return std::string("it does not name the member: ") + error.what();
    }
    if (rest.all_reduce(1, std::plus<>{}) != 3) return "the other group is wrong";
    rest.barrier();
    return {};
}

} // namespace

TEST_CASE("when a member's process is killed all others are told who, and other groups go on") {
    const std::string methods = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(methods);
    const TmpDir folder;
    const std::string key = folder.file("key", "a secret of the group tests\n").string();
    ::chmod(key.c_str(), 0600);
    const Values more{{"job.key_file", key}};
    std::vector<std::unique_ptr<Process>> others; // forked before this process has threads
    for (Rank rank = 1; rank < kMembers; ++rank)
        others.push_back(std::make_unique<Process>([&, rank](Channel& channel) {
            const auto told = channel.take(kLimit * kPatience);
            if (!told) return 1;
            const std::string url(reinterpret_cast<const char*>(told->data()), told->size());
            Context here = Context::attach(url, by(methods, more));
            here.on_error([](const Error&) {});
            const Group all = Group::meet(here, "killed " + methods, rank, kMembers);
            const std::string said = survive(all, [] {});
            channel.put(std::as_bytes(std::span(said)));
            return said.empty() ? 0 : 2;
        }));
    Values serving = more;
    serving["listen"] = "plexus://127.0.0.1:0";
    Context here(by(methods, serving));
    here.on_error([](const Error&) {});
    const std::string url = here.url();
    for (const auto& each : others) REQUIRE(each->channel().put(std::as_bytes(std::span(url))));
    const Group all = Group::meet(here, "killed " + methods, 0, kMembers);
    std::thread killer;
    const std::string said = survive(all, [&] {
        killer = std::thread([&] {
            std::this_thread::sleep_for(
                std::chrono::milliseconds(200)); // inside, or before: both must end well
            others[kVictim - 1]->kill(SIGKILL);
        });
    });
    if (killer.joinable()) killer.join();
    CHECK(said == "");
    for (Rank rank = 1; rank < kMembers; ++rank) {
        CAPTURE(rank);
        if (rank != kVictim) CHECK(others[rank - 1]->wait(kLimit * kPatience) == 0);
    }
}
