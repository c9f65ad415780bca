// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/descriptor.h"

#include "common/bytes.h"

#include <algorithm>

namespace plexus::stream_link {
namespace {

using module::put;

constexpr std::uint8_t kVersion = 1;
enum : std::uint8_t { kFour = 4, kSix = 6 };

} // namespace

std::vector<std::uint8_t> Descriptor::encode() const {
    std::vector<std::uint8_t> out;
    out.reserve(64); // gcc 12 sees a write past the end in a vector that starts with one byte
    put(out, kVersion, 1);
    put(out, where.boot);
    put(out, where.network_namespace, 8);
    put(out, port, 2);
    const std::size_t count = std::min(addresses.size(), kMostAddresses);
    put(out, count, 1);
    for (std::size_t i = 0; i < count; ++i) {
        put(out, addresses[i].is_v4() ? kFour : kSix, 1);
        if (addresses[i].is_v4()) {
            put(out, addresses[i].to_v4().to_bytes());
        } else {
            put(out, addresses[i].to_v6().to_bytes());
        }
    }
    return out;
}

std::optional<Descriptor> Descriptor::decode(plexus_view bytes) {
    module::ByteReader in(bytes);
    Descriptor out;
    if (in.number(1) != kVersion) return std::nullopt;
    out.where.boot = in.array<16>();
    out.where.network_namespace = in.number(8);
    out.port = static_cast<std::uint16_t>(in.number(2));
    const std::uint64_t count = in.number(1);
    if (count > kMostAddresses) return std::nullopt;
    for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
        const std::uint64_t family = in.number(1);
        if (family == kFour) {
            out.addresses.emplace_back(asio::ip::address_v4(in.array<4>()));
        } else if (family == kSix) {
            out.addresses.emplace_back(asio::ip::address_v6(in.array<16>()));
        } else {
            return std::nullopt;
        }
        const auto& last = out.addresses.back();
        if (last.is_unspecified() || last.is_multicast()) return std::nullopt;
    }
    if (!in.ok() || !in.at_end() || out.port == 0 || out.addresses.empty()) return std::nullopt;
    return out;
}

std::vector<asio::ip::address> Descriptor::reachable_from(const module::Surroundings& here) const {
    std::vector<asio::ip::address> out;
    const bool same = where.same_network(here);
    for (const auto& address : addresses)
        if (same || !address.is_loopback()) out.push_back(address);
    std::stable_partition(out.begin(), out.end(), [](const auto& address) { return address.is_loopback(); });
    return out;
}

std::string Descriptor::why_not(const module::Surroundings& here) const {
    return where.same_boot(here) ? "listens on loopback of another network namespace"
                                 : "listens on loopback of another host";
}

} // namespace plexus::stream_link
