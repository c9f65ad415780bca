// SPDX-License-Identifier: BSD-3-Clause
// A broadcast by multicast. The root sends datagrams, a window ahead of the slowest member. Members confirm
// by requests what they have, and ask by requests for what they lack. The root stays in the call until all
// members have all, so repairs are copied from the caller's memory.
#pragma once

#include "group/execution.h"
#include "multicast/channel.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plexus::eco::detail {

/// Bytes that one answer to a member that lacks datagrams brings at most.
inline constexpr std::uint64_t kRepairBytes = std::uint64_t{256} << 10;

/// The root's part. False: the group broke. @thread the caller's of the call
bool send_by_multicast(GroupState& group, multicast::Channel& channel, Execution& call,
                       std::span<std::byte> data);
/// The others' part. False: the group broke. @thread the caller's of the call
bool receive_by_multicast(GroupState& group, multicast::Channel& channel, Execution& call,
                          std::span<std::byte> data, Rank root);

} // namespace plexus::eco::detail
