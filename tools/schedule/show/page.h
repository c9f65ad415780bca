// SPDX-License-Identifier: BSD-3-Clause
// The page of a schedule: network, rounds, destinations and certificate in one HTML file that needs nothing
// else. Pure.
#pragma once

#include "tools/schedule/show/drawing.h"

#include <string>

namespace plexus::tools::drawing {

/// Of one page: browsers take long to read more.
inline constexpr std::size_t kMostTransfers = 300'000;

/// Without scripts the page shows the first round and the table. Every name in it is escaped.
/// @error too_large the schedule has more than kMostTransfers transfers (thrown)
/// @error bad_argument it has no rounds (thrown)
std::string schedule_page(const Drawing& drawing);

} // namespace plexus::tools::drawing
