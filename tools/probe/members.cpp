// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/members.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::tools::probe {

std::optional<std::size_t> Members::find(const std::string& name) const {
    const auto found = std::find_if(measuring.begin(), measuring.end(),
                                    [&](const Member& member) { return member.name == name; });
    if (found == measuring.end()) return {};
    return static_cast<std::size_t>(found - measuring.begin());
}

Members meet_all(Context& here, bool per_context) {
    std::vector<Future<GlobalPointer<Station>>> lookups;
    for (std::uint32_t rank = 0; rank < here.size(); ++rank)
        lookups.push_back(here.lookup<Station>(station_name(rank)));
    std::vector<GlobalPointer<Station>> stations;
    std::vector<Future<Identity>> answers;
    for (auto& lookup : lookups) answers.push_back(stations.emplace_back(lookup.get()).call(identify));
    Members members;
    for (std::uint32_t rank = 0; rank < stations.size(); ++rank) {
        const Identity who = answers[rank].get();
        for (const std::string& method : who.methods)
            if (std::find(members.methods.begin(), members.methods.end(), method) == members.methods.end())
                members.methods.push_back(method);
        const std::string name = per_context ? fmt::format("{}:{}", who.host, rank) : who.host;
        if (members.find(name)) {
            members.resting.push_back(stations[rank]);
        } else {
            members.measuring.push_back({name, rank, stations[rank]});
        }
    }
    return members;
}

} // namespace plexus::tools::probe
