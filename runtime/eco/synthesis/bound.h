// SPDX-License-Identifier: BSD-3-Clause
// lower_bound() within a search's time. Pure.
#pragma once

#include "plexus/eco/round_schedule.h"
#include "synthesis/routes.h"

#include <functional>

namespace plexus::eco {

/// As lower_bound(), of a graph that check() takes. Where `go_on`, which is asked now and then, says false, a
/// bound that may be lower. @error bad_argument no such root (thrown)
RoundBound bound_within(const Routes& routes, CollectiveKind kind, std::uint32_t root,
                        const std::function<bool()>& go_on);

} // namespace plexus::eco
