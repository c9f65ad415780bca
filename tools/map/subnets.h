// SPDX-License-Identifier: BSD-3-Clause
// Subnets as the tools print them. Any thread.
#pragma once

#include "plexus/eco/partition.h"

#include <string>

namespace plexus::tools {

/// A list of lists of names.
std::string to_json(const eco::Partition& partition, const eco::Map& map);

/// On standard output: a subnet a line, hosts in the order of the map.
void print(const eco::Partition& partition, const eco::Map& map);

} // namespace plexus::tools
