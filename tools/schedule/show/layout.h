// SPDX-License-Identifier: BSD-3-Clause
// Where the vertices of a link graph stand in a picture of it. Decided from its links, its terminals and, of
// grids, from the names of its vertices. Pure.
#pragma once

#include "plexus/eco/link_graph.h"

#include <string_view>
#include <vector>

namespace plexus::tools::drawing {

struct Point {
    double x = 0, y = 0;
};

enum class Shape : std::uint8_t {
    stages, ///< links lead from left to right: terminals in at the left, out at the right
    levels, ///< trees and fat trees: links join neighbouring levels, the root above
    grid,   ///< rows and columns
    circle, ///< any other
};

/// "stages".
std::string_view to_string(Shape shape) noexcept;

struct Layout {
    Shape shape = Shape::circle;
    double width = 0, height = 0; ///< pixels
    std::vector<Point> vertices;  ///< middles
    std::vector<double> room; ///< of each vertex: to the middle of the nearest in its column, level or circle
    std::vector<std::size_t> rank; ///< of each vertex: its stage, its level from above, its row; 0
};

/// @param graph one that eco::check() takes
Layout lay_out(const eco::LinkGraph& graph);

} // namespace plexus::tools::drawing
