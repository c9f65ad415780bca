// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/start_map.h"

#include "tools/probe/save.h"
#include "tools/probe/schedule.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace plexus::tools::probe {
namespace {

const std::vector<std::uint64_t> kUsualSizes{8, 1024, 32 * 1024};

void say_who_is_not_here(const eco::Map& map, const Members& members, const ProbeOptions& options) {
    std::vector<std::string> absent;
    for (const std::string& host : map.hosts())
        if (!members.find(host)) absent.push_back(host);
    if (absent.empty()) return;
    std::fprintf(
        stderr,
        "plexus probe: %s lists %s, which %s not in this job: what was measured of %s stays in the map. "
        "If %s moved or %s gone, measure without --resume and --refresh\n",
        options.file.c_str(), fmt::format("{}", fmt::join(absent, ", ")).c_str(),
        absent.size() == 1 ? "is" : "are", absent.size() == 1 ? "it" : "them",
        absent.size() == 1 ? "it" : "they", absent.size() == 1 ? "is" : "are");
}

void check_refresh(const ProbeOptions& options, const Members& members) {
    std::vector<std::string> names;
    for (const Member& member : members.measuring) names.push_back(member.name);
    for (const std::string& host : options.refresh)
        if (!members.find(host))
            throw Error(Status::not_found,
                        fmt::format("--refresh {}: no context of this job is on that host; there are {}",
                                    host, fmt::join(names, ", ")));
}

/// Of hosts that are measured anew.
void forget_models(eco::Map& map, const std::vector<std::string>& hosts) {
    const auto is_one = [&](std::size_t host) {
        return std::find(hosts.begin(), hosts.end(), map.hosts()[host]) != hosts.end();
    };
    std::vector<eco::AcquiredModel> kept;
    for (const eco::AcquiredModel& each : map.acquired())
        if (!is_one(each.from) && !is_one(each.to)) kept.push_back(each);
    map.set_acquired(std::move(kept));
}

} // namespace

eco::Map start_map(const ProbeOptions& options, const Members& members) {
    std::vector<std::string> names;
    for (const Member& member : members.measuring) names.push_back(member.name);
    check_refresh(options, members);
    // --resume without a file begins a new map.
    const bool begins =
        !options.continues() || (options.refresh.empty() && !std::filesystem::exists(options.file));
    eco::Map map = begins ? eco::Map(names, members.methods,
                                     options.sizes.empty() ? kUsualSizes : options.sizes, date_now())
                          : extended(eco::load_map(options.file), names, members.methods, date_now());
    if (!begins) {
        if (!options.sizes.empty() && options.sizes != map.sizes_bytes())
            throw Error(Status::bad_config,
                        fmt::format("{} has costs for {} bytes: leave --sizes out to go on with these, or "
                                    "begin anew without --resume and --refresh",
                                    options.file, fmt::join(map.sizes_bytes(), ", ")));
        if (!map.same_both_ways())
            throw Error(Status::bad_config,
                        fmt::format("{} differs by direction, and a probe measures both ways at once: begin "
                                    "anew without --resume and --refresh",
                                    options.file));
        say_who_is_not_here(map, members, options);
        forget_models(map, options.refresh);
    }
    if (options.cost) map.size_index(*options.cost);
    return map;
}

} // namespace plexus::tools::probe
