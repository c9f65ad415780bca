// SPDX-License-Identifier: BSD-3-Clause
// Symbols for the vertices of a link graph, and the lines of its links from symbol to symbol. Pure.
#pragma once

#include "tools/schedule/show/layout.h"

#include <optional>
#include <string>

namespace plexus::tools::drawing {

/// A circle of a terminal, or a box of a switch, around the vertex's place.
struct Symbol {
    std::optional<std::uint32_t> terminal;
    double width = 0, height = 0;
    double free =
        0; ///< pixels to the right, in levels: until the next symbol of the level or the picture's end
};

/// From border to border: two points or more.
using Line = std::vector<Point>;

struct Wiring {
    Layout layout;
    std::vector<Symbol> symbols; ///< of vertices
    std::vector<Line> links;
};

/// @param graph one that eco::check() takes
Wiring wire(const eco::LinkGraph& graph);

/// A link's start, "12,3.5", and what follows it in a path of SVG, "L40,12".
std::string start_of(const Line& line);
std::string rest_of(const Line& line);

/// The way of a transfer through links and symbols, as a path of SVG.
std::string way_of(const Wiring& wiring, const eco::LinkPath& path);

} // namespace plexus::tools::drawing
