// SPDX-License-Identifier: BSD-3-Clause
#include "shm/descriptor.h"

#include "shm/layout.h"

#include <algorithm>

namespace plexus::shm {
namespace {

template <class Bytes>
std::uint8_t* put(std::uint8_t* to, const Bytes& bytes) {
    return std::copy(bytes.begin(), bytes.end(), to);
}
std::uint8_t* put_number(std::uint8_t* to, std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) *to++ = static_cast<std::uint8_t>(value >> 8 * i);
    return to;
}
template <class Bytes>
const std::uint8_t* get(const std::uint8_t* from, Bytes& bytes) {
    std::copy_n(from, bytes.size(), bytes.begin());
    return from + bytes.size();
}
std::uint64_t get_number(const std::uint8_t*& from, unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value = value << 8 | *from++;
    return value;
}

} // namespace

std::array<std::uint8_t, kDescriptorBytes> encode(const Descriptor& descriptor) {
    std::array<std::uint8_t, kDescriptorBytes> bytes{static_cast<std::uint8_t>(kVersion)};
    std::uint8_t* to = put(bytes.data() + 1, descriptor.place.boot);
    to = put_number(to, descriptor.place.network_namespace, 8);
    to = put_number(to, descriptor.user, 4);
    put(to, descriptor.socket);
    return bytes;
}

std::optional<Descriptor> decode(plexus_view bytes) {
    const auto* from = static_cast<const std::uint8_t*>(bytes.data);
    if (bytes.size != kDescriptorBytes || *from++ != kVersion) return std::nullopt;
    Descriptor descriptor;
    from = get(from, descriptor.place.boot);
    descriptor.place.network_namespace = get_number(from, 8);
    descriptor.user = static_cast<std::uint32_t>(get_number(from, 4));
    get(from, descriptor.socket);
    return descriptor;
}

const char* why_not(const Descriptor& here, const Descriptor& there) {
    if (!here.place.same_boot(there.place)) return "other host";
    if (!here.place.same_network(there.place)) return "other network namespace on this host";
    if (here.user != there.user) return "other user";
    return nullptr;
}

} // namespace plexus::shm
