// SPDX-License-Identifier: BSD-3-Clause
// Which subnets are one wire: the experiment that tells them from switched ones, and what it
// means for a map. Pure functions on values; whoever measures is elsewhere. Any thread.
#pragma once

#include "tools/probe/options.h"
#include "tools/probe/schedule.h"

#include <optional>
#include <span>

namespace plexus::tools::probe {

/// Two hosts play ping-pong, then both begin a game of it at once: where they share one wire,
/// each game takes twice as long, elsewhere one game's way out is the other's way back.
inline constexpr std::uint64_t kWireBytes = 16 * 1024; // long beside any latency on a shared wire
inline constexpr Effort kWireEffort{1, 5};

/// The pair that stands for each subnet: its first two hosts that are in `here`, places in the
/// map; nothing where there are fewer.
std::vector<std::optional<HostPair>> judges_of(const eco::Partition& subnets,
                                               std::span<const std::size_t> here);

/// True if the times of the two games played at once show one wire.
bool is_one_wire(const eco::Cost& alone, const eco::Cost& one, const eco::Cost& other) noexcept;

/// The wires of a map that were known before and that none of the judged subnets speaks of, and
/// the subnets that `shared` says are wires. `shared[i]`: nothing if subnet i was not judged.
std::vector<std::vector<std::size_t>> wires_of(const eco::Map& map, const eco::Partition& subnets,
                                               const std::vector<std::optional<bool>>& shared);

} // namespace plexus::tools::probe
