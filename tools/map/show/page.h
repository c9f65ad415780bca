// SPDX-License-Identifier: BSD-3-Clause
// The page of a map: costs, network, plans and models in one HTML file that needs nothing else. Pure.
#pragma once

#include "tools/map/show/layout.h"
#include "tools/map/show/model_chart.h"
#include "tools/map/show/plans.h"

#include <string>

namespace plexus::tools::show {

std::string to_page(const std::string& title, const eco::Map& map, const Layout& layout,
                    const std::vector<eco::Partition>& levels, const std::vector<ShownPlan>& plans,
                    const std::vector<ModelWay>& ways);

} // namespace plexus::tools::show
