// SPDX-License-Identifier: BSD-3-Clause
// Members in processes of their own; one of them is killed inside a collective.
#include "eco/group/party.h"
#include "support/process.h"
#include "unit/context/key_file.h"

#include <csignal>
#include <cstring>
#include <functional>

namespace killed_test {

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

/// The same where members are never still: calls of all sizes, one behind the other, until one fails.
std::string survive_in_motion(const Group& all, const std::function<void()>& ready) {
    const Group rest = all.split(all.rank() == kVictim ? Group::kNoColour : 0);
    std::vector<double> data(100'000, 1);
    std::vector<char> out(std::size_t{150'000} * kMembers, 1);
    std::vector<char> in(out.size());
    try {
        all.barrier();
        ready();
        for (std::size_t call = 0;; ++call) {
            std::fill(data.begin(), data.end(), 1);
            all.broadcast(std::span(data), static_cast<Rank>(call % kMembers));
            all.all_reduce(std::span(data).first(call * 37 % data.size()), std::plus<>{});
            all.all_to_all(std::span(out).first(call % 2 == 0 ? 400 : out.size()),
                           std::span(in).first(call % 2 == 0 ? 400 : in.size()));
            all.barrier();
        }
    } catch (const Error& error) {
        if (error.status() != Status::peer_lost) return std::string("it threw ") + error.what();
        if (std::string_view(error.what()).find("member 2 ") == std::string_view::npos)
            return std::string("it does not name the member: ") + error.what();
    }
    if (rest.all_reduce(1, std::plus<>{}) != 3) return "the other group is wrong";
    rest.barrier();
    return {};
}

/// The same, all by multicast.
std::string survive_multicast(const Group& all, const std::function<void()>& ready) {
    const Group rest = all.split(all.rank() == kVictim ? Group::kNoColour : 0);
    std::vector<char> data(300'000, 1);
    try {
        all.barrier();
        ready();
        for (Rank call = 0;; ++call)
            all.with(Algorithm::multicast()).broadcast(std::span(data), call % kMembers);
    } catch (const Error& error) {
        if (error.status() != Status::peer_lost) return std::string("it threw ") + error.what();
        if (std::string_view(error.what()).find("member 2 ") == std::string_view::npos)
            return std::string("it does not name the member: ") + error.what();
    }
    rest.with(Algorithm::multicast()).broadcast(std::span(data));
    rest.barrier();
    return {};
}

using Survive = std::string (*)(const Group&, const std::function<void()>&);

/// Members in processes, one of which is killed so long after all are ready.
void kill_one(const std::string& methods, std::string_view hosts, Survive survive_it,
              std::chrono::milliseconds after, Values more = {}) {
    const KeyFile key;
    more["job.key_file"] = key.path();
    std::vector<std::unique_ptr<Process>> others; // forked before this process has threads
    for (Rank rank = 1; rank < kMembers; ++rank)
        others.push_back(std::make_unique<Process>([&, rank](Channel& channel) {
            const auto told = channel.take(kLimit * kPatience);
            if (!told) return 1;
            const std::string url(reinterpret_cast<const char*>(told->data()), told->size());
            Context here = Context::attach(url, by(methods, more));
            here.on_error([](const Error&) {});
            const Group all = Group::meet(here, "killed " + methods, rank, kMembers, on_hosts(hosts)(rank));
            const std::string said = survive_it(all, [] {});
            const std::string told_back = said.empty() ? "as it should" : said;
            channel.put(std::as_bytes(std::span(told_back)));
            return said.empty() ? 0 : 2;
        }));
    Values serving = more;
    serving["listen"] = "plexus://127.0.0.1:0";
    Context here(by(methods, serving));
    here.on_error([](const Error&) {});
    const std::string url = here.url();
    for (const auto& each : others) REQUIRE(each->channel().put(std::as_bytes(std::span(url))));
    const Group all = Group::meet(here, "killed " + methods, 0, kMembers, on_hosts(hosts)(0));
    std::thread killer;
    const std::string said = survive_it(all, [&] {
        killer = std::thread([&] {
            std::this_thread::sleep_for(after); // inside a call, or before: both must end well
            others[kVictim - 1]->kill(SIGKILL);
        });
    });
    if (killer.joinable()) killer.join();
    CHECK(said == "");
    for (Rank rank = 1; rank < kMembers; ++rank) {
        CAPTURE(rank);
        if (rank == kVictim) continue;
        const auto told = others[rank - 1]->channel().take(kLimit * kPatience);
        REQUIRE(told);
        CHECK(std::string(reinterpret_cast<const char*>(told->data()), told->size()) == "as it should");
        CHECK(others[rank - 1]->wait(kLimit * kPatience) == 0);
    }
}

} // namespace

TEST_CASE("when a member's process is killed all others are told who, and other groups go on") {
    const std::string methods = GENERATE(as<std::string>{}, "shm", "tcp");
    const std::string_view hosts = GENERATE("aaaa", "aaba", "bbaa");
    CAPTURE(methods, hosts);
    kill_one(methods, hosts, survive, std::chrono::milliseconds(200));
}

TEST_CASE("when a member's process is killed in motion all others are told who, wherever it was") {
    const std::string methods = GENERATE(as<std::string>{}, "shm", "tcp");
    const int after = GENERATE(1, 20, 60, 110);
    const std::string_view hosts = GENERATE("aaaa", "aaba", "bbaa");
    CAPTURE(methods, after, hosts);
    kill_one(methods, hosts, survive_in_motion, std::chrono::milliseconds(after));
}

TEST_CASE("when a member's process is killed in a broadcast by multicast all others are told who") {
    const int after = GENERATE(1, 20, 60);
    CAPTURE(after);
    kill_one("tcp", "aaaa", survive_multicast, std::chrono::milliseconds(after), {{"eco.multicast", "on"}});
}

} // namespace killed_test
