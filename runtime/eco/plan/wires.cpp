// SPDX-License-Identifier: BSD-3-Clause
#include "plan/wires.h"

#include <algorithm>

namespace plexus::eco {

Wires::Wires(const Network& network)
  : network_(network)
  , count_(network.shared_wires())
  , shared_of_(network.size())
  , us_per_byte_(count_) {
    for (Rank member = 0; member < network.size(); ++member) {
        const auto wire = network.shared_wire_of(member);
        shared_of_[member] = wire ? wire->number : kNone;
        if (wire) us_per_byte_[wire->number] = wire->us_per_byte;
    }
    for (std::size_t at = 0; at + 1 < network.levels().size(); ++at) {
        Level& level = levels_.emplace_back();
        level.group_of.resize(network.size());
        level.way_of.resize(network.size(), kNone);
        std::uint32_t number = 0;
        for (const Subnet& group : network.levels()[at]) {
            const std::uint32_t wire = shared_of_[group.front()];
            const bool is_wire =
                wire != kNone && std::all_of(group.begin(), group.end(),
                                             [&](std::size_t member) { return shared_of_[member] == wire; });
            const bool contends = group.size() > 1 && !is_wire; // one alone waits for itself anyway
            for (const std::size_t member : group) {
                level.group_of[member] = number;
                if (contends) level.way_of[member] = count_;
            }
            if (contends) count_ += 2;
            ++number;
        }
    }
}

} // namespace plexus::eco
