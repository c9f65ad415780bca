// SPDX-License-Identifier: BSD-3-Clause
// Which hosts stand for their subnets when models are acquired, and which make load meanwhile. Pure functions
// on values. Any thread.
#pragma once

#include "tools/probe/members.h"

#include "plexus/eco/partition.h"

#include <cstddef>
#include <span>
#include <vector>

namespace plexus::tools::probe {

/// Whom a link's experiments are made with: places in Members::measuring.
struct LinkParts {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t subnet = 0; ///< of `from`, a place in the partition
    bool inside = false;    ///< both are of one subnet
    /// Pairs that load the network: of the same two subnets, no host twice, neither of them of the link.
    std::vector<eco::HostPair> others;
    /// Hosts that load the receiver: first those of its own subnet.
    std::vector<std::size_t> senders;
};

/// `here` (of each member its place in the map) with a number that no host has in the place of lost members:
/// these stand for nothing. Pure.
std::vector<std::size_t> answering(const std::vector<Member>& members, std::span<const std::size_t> here);

/// Hosts stand for their subnets: of each subnet with two hosts that are here the first two, between two
/// subnets the first of each; of load at most three pairs or senders. First those inside. `here`: of each
/// member its place in the map. Pure.
std::vector<LinkParts> links_of(const eco::Partition& subnets, std::span<const std::size_t> here);

} // namespace plexus::tools::probe
