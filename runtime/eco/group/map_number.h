// SPDX-License-Identifier: BSD-3-Clause
// A number that is the same where two maps lead to the same plans. Pure.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/wire_type.h"

#include <bit>
#include <cstdint>

namespace plexus::eco {

/// Mixes hosts, sizes and the least costs into `number`; the date, methods and models do not count.
inline std::uint64_t mix_costs(std::uint64_t number, const Map& map) {
    using plexus::detail::mix;
    for (const std::string& host : map.hosts()) number = mix(number, host);
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size) {
        number = mix(number, map.sizes_bytes()[size]);
        for (std::size_t from = 0; from < map.hosts().size(); ++from)
            for (std::size_t to = 0; to < map.hosts().size(); ++to)
                if (const Cost& cost = map.cost(size, from, to); from != to && cost.measured())
                    number = mix(number, std::bit_cast<std::uint64_t>(cost.min_us));
    }
    return number;
}

} // namespace plexus::eco
