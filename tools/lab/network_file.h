// SPDX-License-Identifier: BSD-3-Clause
// Networks in TOML: text to value, and where files of networks are. A mistake names the
// file, its line, and what would be right.
//
//   summary = "..."                  mtu = 1500              overhead = 24
//   [[segment]] name, kind = "shared" | "switched", rate, delay, queue, and its
//               hosts = ["a", "b"], or hosts = 20 for name-1 ... name-20
//   [[bridge]]  name, joins = ["segment", ...], delay, rate, queue
//   [[link]]    name, between = ["segment or bridge", "another"], rate, delay, queue,
//               duplex = "full" | "half"
//
// The delay of a switched segment is the delay between two of its hosts; a frame that comes from or leaves
// for another place takes half of that delay.
#pragma once

#include "tools/lab/network.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools::lab {

/// `origin` is named in errors; the network's name is its last part without ".toml".
/// @error bad_config (thrown, as plexus::Error)
Network read_network(std::string_view text, const std::string& origin);

/// The speed of each link of a graph that says nothing of it.
Speed default_link_speed();

/// A file, the name of a network that comes with Plexus, or that of a link graph, like "btree-16", whose
/// links have the speed `links`; only such a network takes one.
/// @error not_found, bad_config; unsupported as network_of(), bad_argument as named_graph(), or a speed for
/// another network (thrown)
Network load_network(const std::string& name_or_path, const std::optional<Speed>& links = {});

/// The names of those that come with Plexus, in order.
std::vector<std::string> known_networks();

} // namespace plexus::tools::lab
