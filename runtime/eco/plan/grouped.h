// SPDX-License-Identifier: BSD-3-Clause
// Members that have something in common, as groups. Pure.
#pragma once

#include "plexus/eco/partition.h"

#include <map>
#include <type_traits>

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

} // namespace plexus::eco
