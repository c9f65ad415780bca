// SPDX-License-Identifier: BSD-3-Clause
// Members that have something in common, as groups, and levels of groups. Pure.
#pragma once

#include "plexus/eco/partition.h"

#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace plexus::eco {

/// Members with equal `key_of(member)`, in the order of their first members.
template <class KeyOf>
Partition grouped(std::size_t members, KeyOf&& key_of) {
    std::map<std::decay_t<decltype(key_of(std::size_t{}))>, std::size_t> place;
    Partition out;
    for (std::size_t member = 0; member < members; ++member) {
        const auto [found, fresh] = place.try_emplace(key_of(member), out.size());
        if (fresh) out.emplace_back();
        out[found->second].push_back(member);
    }
    return out;
}

/// Without levels that join nothing: those with as many groups as the level before, and leading ones in which
/// each member is alone. The last stays.
inline std::vector<Partition> levels_that_join(std::vector<Partition> levels, std::size_t members) {
    std::vector<Partition> out;
    for (Partition& each : levels)
        if (out.empty() || each.size() < out.back().size()) out.push_back(std::move(each));
    while (out.size() > 1 && out.front().size() == members) out.erase(out.begin());
    return out;
}

} // namespace plexus::eco
