// SPDX-License-Identifier: BSD-3-Clause
// The program that the tests of adaptation run on each host of a lab: broadcasts while a link is slowed.
//   MAP FRESH SLOWED    the map that the network had; the file of the map of the slowed network; and the file
//                       by whose existence the test says that both are there, that map and that network
// Member 0 prints a line for each call with the messages that cross each link, "ready", and "median" lines at
// the end.
#include "plexus/eco/group.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/core.h>
#include <map>
#include <span>
#include <string>
#include <thread>

namespace {

using namespace plexus;
using namespace plexus::eco;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = 64 << 10;

/// Milliseconds of one broadcast, until the last member has it.
double timed(const Group& all, const Group& by, std::span<std::byte> data) {
    all.barrier();
    const auto begin = Clock::now();
    by.broadcast(data);
    return all.all_reduce(std::chrono::duration<double, std::milli>(Clock::now() - begin).count(), Max{});
}

/// The links that the plan uses, by the first letters of the hosts' names, with the number of messages.
std::string links_of(const Group& by) {
    const Plan plan = by.plan_of({Operation::broadcast, by.size(), 0, kBytes, 1, true});
    std::map<std::string, int> count{{"ab", 0}, {"ac", 0}, {"bc", 0}};
    for (const Message& each : plan.messages) {
        const char from = by.host_of(each.from)[0];
        const char to = by.host_of(each.to)[0];
        if (from != to) ++count[{std::min(from, to), std::max(from, to)}];
    }
    return fmt::format("ab {} ac {} bc {}", count["ab"], count["ac"], count["bc"]);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void say(const Group& all, const std::string& line) {
    if (all.rank() != 0) return;
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

int run(Context& here, const char* map, const char* fresh_map, const char* slowed) {
    GroupOptions options;
    options.map_file = map;
    const Group all = Group::world(here, options);
    const Group adaptive = all.adapt();
    std::vector<std::byte> data(kBytes);
    const auto call = [&](int number) {
        const double ms = timed(all, adaptive, data);
        say(all, fmt::format("call {}: {:.1f} ms, epoch {}, {}", number, ms, adaptation_of(adaptive).epoch,
                             links_of(adaptive)));
    };
    for (int number = 1; number <= 8; ++number) call(number);
    say(all, "ready");
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    if (all.rank() == 0)
        while (!std::filesystem::exists(slowed) && Clock::now() < deadline)
            if (here.progress() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    all.barrier();
    say(all, "slowed");
    options.map_file = fresh_map;
    const Group fresh = Group::world(here, options);
    for (int number = 1; number <= 20; ++number) call(number);
    say(all, "after 20 calls: " + links_of(adaptive));
    say(all, to_text(adaptation_of(adaptive)));
    std::vector<double> adapted_ms;
    std::vector<double> fresh_ms;
    std::vector<double> stale_ms;
    for (int round = 0; round < 7; ++round) {
        adapted_ms.push_back(timed(all, adaptive, data));
        fresh_ms.push_back(timed(all, fresh, data));
        if (round < 3) stale_ms.push_back(timed(all, all, data));
    }
    say(all, fmt::format("median adapted {:.1f} ms\nmedian fresh {:.1f} ms\nmedian stale {:.1f} ms",
                         median(adapted_ms), median(fresh_ms), median(stale_ms)));
    return 0;
}

} // namespace

int main(int count, char** words) {
    if (count != 4) return 2;
    try {
        Context here(count, words);
        return run(here, words[1], words[2], words[3]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
