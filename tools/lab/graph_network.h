// SPDX-License-Identifier: BSD-3-Clause
// The network of a link graph: a switch for each vertex without a terminal, a host at each terminal, and a
// full-duplex link for each two opposite links. Pure.
#pragma once

#include "plexus/eco/link_graph.h"
#include "tools/lab/network.h"

namespace plexus::tools::lab {

/// Every link has this speed; its queue is that of each direction's sender. Hosts are in the order of
/// terminals.
/// @error unsupported the lab's hosts have one full-duplex cable, and its frames one way: says which of it
/// the graph does not have (thrown)
/// @error bad_config  as check() of a network (thrown)
Network network_of(const eco::LinkGraph& graph, const Speed& speed);

} // namespace plexus::tools::lab
