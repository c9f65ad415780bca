// SPDX-License-Identifier: BSD-3-Clause
// The places of hosts and subnets in a picture of a network. Pure.
#pragma once

#include "plexus/eco/partition.h"

#include <string>
#include <vector>

namespace plexus::tools::show {

struct Box {
    double x = 0, y = 0, width = 0, height = 0;
    std::size_t level = 0; ///< 0: a subnet of hosts; then subnets of subnets
    std::string label;
};

struct Spot {
    double x = 0, y = 0;
};

struct Layout {
    static constexpr double kHostRadius = 8;

    double width = 0, height = 0; ///< pixels
    std::vector<Box> boxes;       ///< the outer ones first
    std::vector<Spot> hosts;      ///< by place in the map
    std::size_t most_letters = 0; ///< of a host's name, where there is room for no more
};

/// `levels` as hierarchy() returns them. Hosts of a subnet are in rows, subnets in rows inside the box of
/// their group; the label of a box has its number of hosts and the costs inside.
Layout lay_out(const eco::Map& map, const eco::CostMatrix& costs, const std::vector<eco::Partition>& levels);

/// Hosts subnet by subnet, as they stand in the picture.
std::vector<std::size_t> in_order(const std::vector<eco::Partition>& levels);

/// "48.4 us", "6.58 ms".
std::string show_us(double us);

} // namespace plexus::tools::show
