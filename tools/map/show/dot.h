// SPDX-License-Identifier: BSD-3-Clause
// A network and a plan in the dot language of Graphviz. Pure.
#pragma once

#include "tools/map/show/plans.h"

#include <string>

namespace plexus::tools::show {

/// Subnets are clusters, nested by level; an edge stands for all messages from one host to
/// another and tells when they are on their way.
std::string to_dot(const eco::Map& map, const std::vector<eco::Partition>& levels, const ShownPlan& shown);

} // namespace plexus::tools::show
