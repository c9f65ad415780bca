// SPDX-License-Identifier: BSD-3-Clause
// A network as a picture in SVG: hosts in nested subnets, and over them the messages of a plan.
// Pure.
#pragma once

#include "tools/map/show/layout.h"
#include "tools/map/show/plans.h"

#include <string>

namespace plexus::tools::show {

/// The network alone, to be put into a page: hosts are groups with the class `host` and their
/// place as `data-host`; colours are those of the page.
std::string network_svg(const eco::Map& map, const Layout& layout);

/// A picture by itself: network, messages numbered in the order in which they are sent, and
/// what colours mean. Light and dark as the viewer prefers.
std::string picture_svg(const eco::Map& map, const Layout& layout, const eco::Partition& subnets,
                        const ShownPlan& shown);

} // namespace plexus::tools::show
