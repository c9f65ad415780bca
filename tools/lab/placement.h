// SPDX-License-Identifier: BSD-3-Clause
// Which rank of a job is on which host. Pure.
#pragma once

#include "tools/lab/network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plexus::tools::lab {

/// What the command line said.
struct PlacementOptions {
    std::uint32_t contexts = 0; ///< 0: as many as `per_host` gives
    std::uint32_t per_host = 1;
    /// block: the ranks of a host follow each other; cyclic: the next rank is on the next host; shuffle or
    /// shuffle:SEED: block over the hosts in a random order.
    std::string order = "block";
    std::vector<std::string> hosts; ///< host or host*times; empty: all, in the network's order
};

/// By rank, the host's index.
/// @error bad_argument (thrown, as plexus::Error)
std::vector<std::size_t> place(const Network& network, const PlacementOptions& options);

} // namespace plexus::tools::lab
