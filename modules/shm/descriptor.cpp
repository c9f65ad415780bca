// SPDX-License-Identifier: BSD-3-Clause
#include "shm/descriptor.h"

#include "common/bytes.h"
#include "shm/layout.h"

namespace plexus::shm {

std::vector<std::uint8_t> encode(const Descriptor& descriptor) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(64);
    module::put(bytes, kVersion, 1);
    module::put(bytes, descriptor.place.boot);
    module::put(bytes, descriptor.place.network_namespace, 8);
    module::put(bytes, descriptor.user, 4);
    module::put(bytes, descriptor.socket);
    return bytes;
}

std::optional<Descriptor> decode(plexus_view bytes) {
    module::ByteReader in(bytes);
    if (in.number(1) != kVersion) return std::nullopt;
    Descriptor descriptor;
    in.fill(descriptor.place.boot);
    descriptor.place.network_namespace = in.number(8);
    descriptor.user = static_cast<std::uint32_t>(in.number(4));
    in.fill(descriptor.socket);
    if (!in.at_end()) return std::nullopt;
    return descriptor;
}

const char* why_not(const Descriptor& here, const Descriptor& there) {
    if (!here.place.same_boot(there.place)) return "other host";
    if (!here.place.same_network(there.place)) return "other network namespace on this host";
    if (here.user != there.user) return "other user";
    return nullptr;
}

} // namespace plexus::shm
