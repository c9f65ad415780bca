// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule play`: plays a schedule's file by the rules of wormhole switching.
#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/common/usage.h"
#include "tools/schedule/checker.h"
#include "tools/schedule/options.h"
#include "tools/schedule/play.h"
#include "tools/schedule/schedule_file.h"
#include "tools/verb.h"

#include <charconv>
#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools::schedule {
namespace {

std::uint64_t flits_in(const std::string& text) {
    std::uint64_t flits = PlayOptions().flits;
    if (text.empty()) return flits;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), flits);
    constexpr std::uint64_t kMostFlits = 1'000'000'000; // so that cycles can be counted
    if (error != std::errc{} || end != text.data() + text.size() || flits == 0 || flits > kMostFlits)
        usage_error("schedule",
                    fmt::format("--flits \"{}\" is no whole number from 1 to {}", text, kMostFlits));
    return flits;
}

std::uint64_t count_of(const std::vector<eco::Round>& rounds) {
    std::uint64_t count = 0;
    for (const eco::Round& each : rounds) count += each.size();
    return count;
}

void print_text(const ScheduleFile& file, const Played& played, const PlayOptions& options) {
    std::uint64_t blocked = 0;
    for (const PlayedTransfer& each : played.transfers) blocked += each.blocked > 0 ? 1 : 0;
    std::printf("%zu rounds, %zu transfers of %llu flits, %s: %llu cycles\n", file.schedule.rounds.size(),
                played.transfers.size(), static_cast<unsigned long long>(options.flits),
                options.asynchronous ? "asynchronous" : "in lockstep",
                static_cast<unsigned long long>(played.cycles));
    std::printf("%llu transfers were blocked, for %llu cycles together\n",
                static_cast<unsigned long long>(blocked), static_cast<unsigned long long>(played.blocked));
    if (!played.deadlock.empty())
        std::printf("deadlock, %llu transfers never end: %s\n",
                    static_cast<unsigned long long>(count_of(file.schedule.rounds) - played.transfers.size()),
                    played.deadlock.c_str());
}

void print_json(const ScheduleFile& file, const Played& played, const PlayOptions& options) {
    std::vector<std::string> transfers;
    for (const PlayedTransfer& each : played.transfers) {
        const eco::Transfer& transfer = file.schedule.rounds[each.round][each.place];
        json::Object one;
        one.add("round", each.round)
            .add("src", transfer.src)
            .add("dst", transfer.dst)
            .add("msg", transfer.msg);
        one.add("begun", each.begun).add("ended", each.ended).add("blocked", each.blocked);
        transfers.push_back(one.text());
    }
    json::Object all;
    all.add("flits", options.flits).add("asynchronous", options.asynchronous);
    all.add("rounds", file.schedule.rounds.size())
        .add("cycles", played.cycles)
        .add("blocked", played.blocked);
    all.add("deadlock", played.deadlock).raw("transfers", json::list(transfers));
    std::printf("%s\n", all.text().c_str());
}

} // namespace

int play_file(const Options& options) {
    if (options.words.size() != 1) usage_error("schedule", "say which FILE holds the schedule to play");
    const PlayOptions play_options{flits_in(options.play.flits), options.play.asynchronous};
    const std::string& name = options.words.front();
    ScheduleFile file = load_schedule(name);
    Played played;
    try {
        file.schedule = with_paths(file.graph, std::move(file.schedule));
        played = play(file.graph, file.schedule.rounds, play_options);
    } catch (const Error& error) { throw Error(error.status(), fmt::format("{}: {}", name, error.what())); }
    options.json ? print_json(file, played, play_options) : print_text(file, played, play_options);
    return played.deadlock.empty() ? kOk : kNo;
}

} // namespace plexus::tools::schedule
