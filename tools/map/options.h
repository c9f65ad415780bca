// SPDX-License-Identifier: BSD-3-Clause
// What a command line of `plexus map` asked for, whatever it does with the map.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plexus::tools {

enum class Picture : std::uint8_t { page, svg, dot };

struct MapWish {
    std::string file;
    eco::Tolerance tolerance;
    eco::Symmetry symmetry = eco::Symmetry::refuse;
    eco::Statistic statistic = eco::Statistic::min;
    /// partition: the size whose costs count; nothing: the smallest of the map. show: of the
    /// plan's vector or blocks; nothing: usual ones.
    std::optional<std::uint64_t> size_bytes;
    bool levels = false;
    bool json = false;

    // show
    Picture picture = Picture::page;
    std::string output; ///< empty: standard output
    std::string operation;
    std::string pattern;
    std::string root;
};

/// One number for each pair, the same both ways. @error bad_config it is not, and the wish does
/// not say what to do then (thrown; names the option)
eco::CostMatrix costs_in(const eco::Map& map, const MapWish& wish, std::size_t size);

/// Prints the subnets of a map. Returns an exit code.
int print_partition(const MapWish& wish);

/// Writes a page or a picture of a map. Returns an exit code.
int show_map(const MapWish& wish);

} // namespace plexus::tools
