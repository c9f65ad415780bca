// SPDX-License-Identifier: BSD-3-Clause
// The page of a map: costs, network and plans in one HTML file that needs nothing else. Pure.
#pragma once

#include "tools/map/show/layout.h"
#include "tools/map/show/plans.h"

#include <string>

namespace plexus::tools::show {

std::string to_page(const std::string& title, const eco::Map& map, const Layout& layout,
                    const std::vector<eco::Partition>& levels, const std::vector<ShownPlan>& plans);

} // namespace plexus::tools::show
