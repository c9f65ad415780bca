// SPDX-License-Identifier: BSD-3-Clause
// Link graphs by name and in JSON: {"links": [["u","v"], …], "terminals": ["v" or ["in","out"], …],
// "ports": "one"|"all"}. A link's number is its place in "links", from 0; vertices are numbered as they first
// appear. Without "ports" a graph is one-port. Other members are not looked at. Any thread.
#pragma once

#include "plexus/eco/link_graph.h"
#include "tools/common/json_file.h"

#include <string>

namespace plexus::tools::schedule {

inline constexpr std::size_t kLargestGraphFile = std::size_t{64} << 20;

/// `place` stands before the names of members in errors: "topology.". Whether schedules can be made for the
/// graph is not looked at. @error bad_argument what is wrong and where (thrown)
eco::LinkGraph graph_in(const json::Value& value, const std::string& place);

/// "one" or "all". @error bad_argument something else; begins with `place` (thrown)
eco::Ports ports_in(const json::Value& value, const std::string& place);

/// What graph_in() reads.
std::string to_json(const eco::LinkGraph& graph);

/// True of a word that graph_of() takes for a file: it has a "." or "/", or is a file and no kind of network.
bool is_graph_file(const std::string& text);

/// The network of this name, or the graph in this file.
/// @error bad_argument there is no such network, or the file holds no graph (names file and place);
/// not_found, too_large the file cannot be read (thrown)
eco::LinkGraph graph_of(const std::string& name_or_file);

} // namespace plexus::tools::schedule
