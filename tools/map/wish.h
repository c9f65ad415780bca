// SPDX-License-Identifier: BSD-3-Clause
// What a command line of `plexus map` asked for, whatever it does with the map.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plexus::tools {

struct MapWish {
    std::string file;
    eco::Tolerance tolerance;
    eco::Symmetry symmetry = eco::Symmetry::refuse;
    eco::Statistic statistic = eco::Statistic::min;
    std::optional<std::uint64_t> size_bytes; ///< nothing: the smallest of the map
    bool levels = false;
    bool json = false;
};

/// Prints the subnets of a map. Returns an exit code.
int print_partition(const MapWish& wish);

} // namespace plexus::tools
