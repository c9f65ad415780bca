// SPDX-License-Identifier: BSD-3-Clause
// A measured network as a link graph. Pure. Any thread.
#pragma once

#include "plexus/eco/link_graph.h"
#include "plexus/eco/map.h"

namespace plexus::tools::schedule {

/// The map's subnets, and subnets of subnets, as a tree of switches: one for each that holds more than one
/// host and is no subnet by itself already, a root above them, two links between neighbours, a one-port
/// terminal for each host in the map's order. Least costs of the smallest messages; the mean where directions
/// differ.
/// @error bad_argument the map has more hosts than a graph has terminals (thrown)
eco::LinkGraph graph_of_map(const eco::Map& map);

} // namespace plexus::tools::schedule
