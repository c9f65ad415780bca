// SPDX-License-Identifier: BSD-3-Clause
// Load balancing over a ring, as in Dome on ECO's topologies (the ECO paper, section 6.2): each member
// tells its two neighbours its load, and passes rows to a neighbour with less load. Loads spread by
// diffusion (Cybenko, Journal of Parallel and Distributed Computing 7, 1989).
#pragma once

#include "worker.h"

#include <plexus/eco/grid.h>

#include <cstdint>

namespace balance {

/// Every member calls it, with the load of its last iteration. How many rows it gave away.
/// Each member keeps one at least. @error those of Grid::exchange (thrown)
std::uint64_t even_out(const plexus::eco::Ring& ring, Worker& worker, double load, std::uint32_t columns);

} // namespace balance
