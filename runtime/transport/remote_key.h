// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access by a module: what may be asked of a channel's link. When it may be used
// is the memory room's business. @thread any
#pragma once

#include "transport/channel.h"

namespace plexus::transport {

/// The peer's memory, for as long as the link lives that `stream` is of.
struct RemoteKey {
    std::uint32_t stream = 0;
    plexus_remote_key* remote = nullptr;
};

/// What the channel's method does better by itself than by messages.
inline bool moves_memory(const Channel& channel, std::size_t bytes) noexcept {
    const std::uint64_t least = channel.interface().limits.remote_bytes;
    return least != 0 && bytes >= least;
}
/// @error what the module says; link_lost: there is no link now
Result<RemoteKey> attach(Channel& channel, wire::View key);
void detach(Channel& channel, const RemoteKey& key) noexcept;
/// ok: the bytes are in place. posted: `done` will be told. Others: nothing was moved.
Status get(Channel& channel, const RemoteKey& key, std::uint64_t offset, std::span<std::byte> into,
           Completion* done);
Status put(Channel& channel, const RemoteKey& key, std::uint64_t offset, std::span<const std::byte> from,
           Completion* done);

} // namespace plexus::transport
