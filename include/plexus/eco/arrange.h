// SPDX-License-Identifier: BSD-3-Clause
// Places of a ring, mesh or torus for members of a network. Pure. Any thread.
#pragma once

#include "plexus/eco/plan.h"
#include "plexus/export.h"

#include <functional>
#include <vector>

namespace plexus::eco {

/// One to three dimensions; a periodic one goes round: a ring, a torus.
struct GridShape {
    std::vector<Rank> lengths;
    std::vector<bool> periodic; ///< of each dimension; empty: none
};

/// Which member is at each place, the last dimension running fastest, so that the costs of all
/// edges together are small. Deterministic. Pure. @thread any
/// @error bad_argument no such grid, or not one place for each member (thrown)
PLEXUS_API std::vector<Rank> arrange(const GridShape& shape, Rank members,
                                     const std::function<double(Rank, Rank)>& cost);

} // namespace plexus::eco
