// SPDX-License-Identifier: BSD-3-Clause
// A ring through all terminals whose transfers, each to the next, share nothing. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <functional>
#include <optional>

namespace plexus::eco {

/// Round the terminals in the order of a walk through the network (on a tree the walk crosses each link once
/// each way, so this one always works), else by their numbers. Nothing: neither works, or `go_on` said false.
std::optional<Round> simple_ring(const Routes& routes, Random& random, const std::function<bool()>& go_on);

/// In an order that is searched for. Nothing: none was found before `go_on` said false or the search had no
/// more ideas.
std::optional<Round> search_ring(const Routes& routes, Random& random, const std::function<bool()>& go_on);

} // namespace plexus::eco
