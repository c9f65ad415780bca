// SPDX-License-Identifier: BSD-3-Clause
// Vertices of a link graph in layers, each in an order with few crossings. Pure.
#pragma once

#include "plexus/eco/link_graph.h"

#include <optional>
#include <vector>

namespace plexus::tools::drawing {

using Layers = std::vector<std::vector<std::uint32_t>>; ///< vertices

/// The vertices next to each, along links of either direction; each once.
std::vector<std::vector<std::uint32_t>> neighbours(const eco::LinkGraph& graph);

/// Each vertex one layer behind the last that leads to it. Nothing: a link leads back, or a terminal sends
/// where it accepts.
std::optional<Layers> stages_of(const eco::LinkGraph& graph);

/// From the terminals, which are the last layer, up: each vertex by its distance to the nearest terminal.
/// Nothing: a link has no opposite or does not join neighbouring layers, or there are terminals alone.
std::optional<Layers> levels_of(const eco::LinkGraph& graph);

/// Orders the vertices of each layer so that fewer links cross, where a graph without a name has them in an
/// order that tells nothing.
void reduce_crossings(const eco::LinkGraph& graph, Layers& layers);

} // namespace plexus::tools::drawing
