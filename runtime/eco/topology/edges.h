// SPDX-License-Identifier: BSD-3-Clause
// A symmetric matrix of costs as edges: a pair that was not measured is none. Pure.
#pragma once

#include "plexus/eco/map.h"

#include <cstdint>
#include <vector>

namespace plexus::eco {

struct Edge {
    double cost;
    std::uint32_t a;
    std::uint32_t b;
};

/// Nondecreasing in cost. @error bad_argument the matrix is not symmetric (thrown)
std::vector<Edge> sorted_edges(const CostMatrix& costs);

/// Of each host; infinity where it has none.
std::vector<double> least_edges(const CostMatrix& costs);

} // namespace plexus::eco
