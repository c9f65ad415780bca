// SPDX-License-Identifier: BSD-3-Clause
// Which subnets are one wire: the experiment that tells them from switched subnets, and the result's
// meaning for a map. Pure functions on values; stations measure. Any thread.
#pragma once

#include "tools/probe/options.h"
#include "tools/probe/schedule.h"

#include <optional>
#include <span>

namespace plexus::tools::probe {

/// Two hosts play one ping-pong, then two at once, one begun by each host. On a shared wire each of the two
/// takes twice as long; on a switched network the ping of one and the pong of the other travel in opposite
/// directions.
inline constexpr std::uint64_t kWireBytes = 16 * 1024; // long beside any latency on a shared wire
inline constexpr Effort kWireEffort{1, 9}; // the first and the last exchange may be without the other game

/// The pair that stands for each subnet: its first two hosts that are in `here` (places in the map); nothing
/// if there are fewer.
std::vector<std::optional<HostPair>> judges_of(const eco::Partition& subnets,
                                               std::span<const std::size_t> here);

/// True if the times of the two games played at once show one wire.
bool is_one_wire(const eco::Cost& alone, const eco::Cost& one, const eco::Cost& other) noexcept;

/// The shared wires of the map after this probe: the subnets for which `shared` is true, and the wires known
/// before that have no host in a judged subnet. `shared[i]`: nothing if subnet i was not judged.
std::vector<std::vector<std::size_t>> wires_of(const eco::Map& map, const eco::Partition& subnets,
                                               const std::vector<std::optional<bool>>& shared);

} // namespace plexus::tools::probe
