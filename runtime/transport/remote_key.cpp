// SPDX-License-Identifier: BSD-3-Clause
#include "transport/remote_key.h"

namespace plexus::transport {

Result<RemoteKey> attach(Channel& channel, wire::View key) {
    const Interface& interface = channel.interface();
    RemoteKey attached;
    const Status status = channel.on_way_out([&](plexus_link* link, std::uint32_t stream) {
        if (link == nullptr) return Status::link_lost;
        attached.stream = stream;
        return static_cast<Status>(interface.ops.attach(link, {key.data(), key.size()}, &attached.remote));
    });
    if (status == Status::link_lost) return fail(status, "there is no link now");
    if (status != Status::ok)
        return fail(status, "{} does not take the peer's memory: {}", interface.name, to_string(status));
    return attached;
}

void detach(Channel& channel, const RemoteKey& key) noexcept {
    channel.on_way_out([&](plexus_link* link, std::uint32_t stream) {
        // A link that is lost keeps it until it is given up, and that may have been already.
        if (link != nullptr && stream == key.stream) channel.interface().ops.detach(link, key.remote);
    });
}

Status get(Channel& channel, const RemoteKey& key, std::uint64_t offset, std::span<std::byte> into,
           Completion* done) {
    return channel.on_way_out([&](plexus_link* link, std::uint32_t stream) {
        if (link == nullptr || stream != key.stream) return Status::link_lost;
        return static_cast<Status>(
            channel.interface().ops.get(link, key.remote, offset, into.data(), into.size(), done));
    });
}

Status put(Channel& channel, const RemoteKey& key, std::uint64_t offset, std::span<const std::byte> from,
           Completion* done) {
    return channel.on_way_out([&](plexus_link* link, std::uint32_t stream) {
        if (link == nullptr || stream != key.stream) return Status::link_lost;
        return static_cast<Status>(
            channel.interface().ops.put(link, key.remote, offset, from.data(), from.size(), done));
    });
}

} // namespace plexus::transport
