// SPDX-License-Identifier: BSD-3-Clause
// Runs a plan on data: members as vectors in one thread, taking turns at random. Knows
// nothing of prove(), so that each can be held against the other.
#pragma once

#include "eco/topology/networks.h"

#include "plexus/eco/plan.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace plexus::testing {

/// Of each member, its blocks; a block that it does not have is none. Elements are letters,
/// and combining two writes one behind the other.
using Data = std::vector<std::vector<std::optional<std::string>>>;

inline Data run_on(const eco::Plan& plan, Data data, Random& random) {
    std::vector<std::size_t> next(plan.members);
    std::vector<std::optional<std::vector<std::string>>> travelling(plan.messages.size());
    std::vector<eco::Rank> able;
    while (true) {
        able.clear();
        bool done = true;
        for (eco::Rank member = 0; member < plan.members; ++member) {
            if (next[member] == plan.steps[member].size()) continue;
            done = false;
            const eco::Step step = plan.steps[member][next[member]];
            if (step.send || travelling[step.message]) able.push_back(member);
        }
        if (done) return data;
        if (able.empty()) throw std::runtime_error("nobody can go on");
        const eco::Rank member = able[random() % able.size()];
        const eco::Step step = plan.steps[member][next[member]++];
        const eco::Message& message = plan.messages[step.message];
        if (step.send) travelling[step.message].emplace();
        std::size_t at = 0;
        for (const eco::BlockRange& range : plan.blocks_of(message))
            for (std::uint32_t block = range.first; block < range.first + range.count; ++block) {
                auto& mine = data[member][block];
                if (step.send) {
                    travelling[step.message]->push_back(mine.value());
                    continue;
                }
                const std::string& came = (*travelling[step.message])[at++];
                mine = message.merge == eco::Merge::store    ? came
                       : message.merge == eco::Merge::before ? came + mine.value()
                                                             : mine.value() + came;
            }
    }
}

} // namespace plexus::testing
