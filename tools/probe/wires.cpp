// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/wires.h"

#include <algorithm>

namespace plexus::tools::probe {

std::vector<std::optional<HostPair>> judges_of(const eco::Partition& subnets,
                                               std::span<const std::size_t> here) {
    std::vector<std::optional<HostPair>> out;
    for (const eco::Subnet& subnet : subnets) {
        std::vector<std::size_t> present;
        for (const std::size_t host : subnet)
            if (std::find(here.begin(), here.end(), host) != here.end()) present.push_back(host);
        out.push_back(present.size() < 2 ? std::nullopt : std::optional(HostPair{present[0], present[1]}));
    }
    return out;
}

bool is_one_wire(const eco::Cost& alone, const eco::Cost& one, const eco::Cost& other) noexcept {
    // A wire delays every exchange; what else disturbs leaves some alone.
    constexpr double kClearly = 1.5; // between once and twice
    return std::min(one.p25_us, other.p25_us) > kClearly * alone.median_us;
}

std::vector<std::vector<std::size_t>> wires_of(const eco::Map& map, const eco::Partition& subnets,
                                               const std::vector<std::optional<bool>>& shared) {
    std::vector<char> judged(map.hosts().size());
    std::vector<std::vector<std::size_t>> out;
    for (std::size_t at = 0; at < subnets.size(); ++at) {
        if (!shared[at]) continue;
        for (const std::size_t host : subnets[at]) judged[host] = 1;
        if (*shared[at]) out.push_back(subnets[at]);
    }
    for (const auto& wire : map.shared_wires())
        if (std::none_of(wire.begin(), wire.end(), [&](std::size_t host) { return judged[host] != 0; }))
            out.push_back(wire);
    return out;
}

} // namespace plexus::tools::probe
