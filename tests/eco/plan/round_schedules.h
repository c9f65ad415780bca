// SPDX-License-Identifier: BSD-3-Clause
// Schedules for tests, written by hand or by the simplest rule: not the product's searches.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <algorithm>
#include <map>
#include <set>

namespace plexus::testing {

/// A network in which every terminal has a link to and one from a switch without conflicts inside.
inline eco::Transfer over_star(std::uint32_t src, std::uint32_t dst, std::uint32_t msg) {
    return {src, dst, msg, {2 * src, 2 * dst + 1}};
}

/// Each passes on to the next what came last.
inline eco::RoundSchedule ring_aab(std::uint32_t terminals) {
    eco::RoundSchedule out{eco::CollectiveKind::aab, 0, {}};
    for (std::uint32_t round = 0; round + 1 < terminals; ++round) {
        out.rounds.emplace_back();
        for (std::uint32_t src = 0; src < terminals; ++src)
            out.rounds.back().push_back(
                over_star(src, (src + 1) % terminals, (src + terminals - round) % terminals));
    }
    return out;
}

/// In round t everyone sends to the one at distance t.
inline eco::RoundSchedule shift_aas(std::uint32_t terminals) {
    eco::RoundSchedule out{eco::CollectiveKind::aas, 0, {}};
    for (std::uint32_t distance = 1; distance < terminals; ++distance) {
        out.rounds.emplace_back();
        for (std::uint32_t src = 0; src < terminals; ++src)
            out.rounds.back().push_back(over_star(src, (src + distance) % terminals, src));
    }
    return out;
}

/// Twice as many have it after each round.
inline eco::RoundSchedule doubling_oab(std::uint32_t terminals, std::uint32_t root) {
    eco::RoundSchedule out{eco::CollectiveKind::oab, root, {}};
    for (std::uint32_t have = 1; have < terminals; have *= 2) {
        out.rounds.emplace_back();
        for (std::uint32_t each = 0; each < have && each + have < terminals; ++each)
            out.rounds.back().push_back(
                over_star((root + each) % terminals, (root + each + have) % terminals, root));
    }
    return out;
}

/// One after the other, the farthest first.
inline eco::RoundSchedule serial_oas(std::uint32_t terminals, std::uint32_t root) {
    eco::RoundSchedule out{eco::CollectiveKind::oas, root, {}};
    for (std::uint32_t distance = terminals - 1; distance > 0; --distance)
        out.rounds.push_back({over_star(root, (root + distance) % terminals, root)});
    return out;
}

/// On a tree: each transfer, those with the longest ways first, in the first round in which its links are
/// free.
inline eco::RoundSchedule first_fit_aas(const eco::LinkGraph& graph) {
    std::vector<eco::Transfer> all;
    const auto terminals = static_cast<std::uint32_t>(graph.terminals.size());
    for (std::uint32_t distance = 1; distance < terminals; ++distance)
        for (std::uint32_t src = 0; src < terminals; ++src) {
            const std::uint32_t dst = (src + distance) % terminals;
            all.push_back({src, dst, src, eco::shortest_paths(graph, src, dst, 1).front()});
        }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.path.size() > b.path.size(); });
    eco::RoundSchedule out{eco::CollectiveKind::aas, 0, {}};
    std::vector<std::set<std::uint32_t>> used;
    for (eco::Transfer& each : all) {
        std::size_t round = 0;
        const auto taken = [&](std::uint32_t link) { return used[round].count(link) > 0; };
        while (round < used.size() && std::any_of(each.path.begin(), each.path.end(), taken)) ++round;
        if (round == used.size()) {
            used.emplace_back();
            out.rounds.emplace_back();
        }
        used[round].insert(each.path.begin(), each.path.end());
        out.rounds[round].push_back(std::move(each));
    }
    return out;
}

} // namespace plexus::testing
