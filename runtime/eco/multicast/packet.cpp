// SPDX-License-Identifier: BSD-3-Clause
#include "multicast/packet.h"

#include <algorithm>

namespace plexus::eco::multicast {
namespace {

constexpr std::uint32_t kMagic = 0x504c4d31; // "PLM1"

void put(std::byte*& at, std::uint64_t value, unsigned bytes) noexcept {
    for (unsigned i = bytes; i-- > 0;) *at++ = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

std::uint64_t take(const std::byte*& at, unsigned bytes) noexcept {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint64_t>(*at++);
    return value;
}

std::uint32_t take_word(const std::byte*& at) noexcept { return static_cast<std::uint32_t>(take(at, 4)); }

/// In constant time: how far two tags agree is a secret.
bool has_tag(Bytes tag, const crypto::Digest& expected) noexcept {
    unsigned difference = 0;
    for (std::size_t i = 0; i < tag.size(); ++i)
        difference |= std::to_integer<unsigned>(tag[i]) ^ expected[i];
    return difference == 0;
}

} // namespace

void encode(const PacketHeader& header, Bytes data, const Key& key, std::vector<std::byte>& out) {
    out.resize(kOverhead + data.size());
    std::byte* at = out.data();
    put(at, kMagic, 4);
    put(at, header.group, 8);
    for (const std::uint32_t each :
         {header.call, header.digest, header.sender, header.sequence, header.count})
        put(at, each, 4);
    at = std::copy(data.begin(), data.end(), at);
    const Bytes sealed(out.data(), kHeaderBytes + data.size());
    const crypto::Digest tag = crypto::hmac_sha256(key, sealed);
    std::copy_n(std::as_bytes(std::span(tag)).begin(), kTagBytes, at);
}

std::optional<Packet> parse(Bytes datagram, std::uint64_t group) {
    if (datagram.size() < kOverhead) return std::nullopt;
    const std::byte* at = datagram.data();
    if (take(at, 4) != kMagic || take(at, 8) != group) return std::nullopt;
    Packet packet;
    packet.header.group = group;
    for (std::uint32_t* const each : {&packet.header.call, &packet.header.digest, &packet.header.sender,
                                      &packet.header.sequence, &packet.header.count})
        *each = take_word(at);
    const bool probes = packet.header.count == 0;
    if (!probes && packet.header.sequence >= packet.header.count) return std::nullopt;
    packet.data = datagram.first(datagram.size() - kTagBytes).subspan(kHeaderBytes);
    return packet;
}

bool is_genuine(Bytes datagram, const Key& key) {
    if (datagram.size() < kOverhead) return false;
    const Bytes sealed = datagram.first(datagram.size() - kTagBytes);
    return has_tag(datagram.last(kTagBytes), crypto::hmac_sha256(key, sealed));
}

} // namespace plexus::eco::multicast
