// SPDX-License-Identifier: BSD-3-Clause
// The datagrams of a broadcast by IP multicast: a header, a part of the data, and a tag (HMAC-SHA256 by the
// group's key, cut to 16 bytes). They are authenticated and not encrypted. Numbers are big-endian. Pure
// functions. @thread any
#pragma once

#include "base/crypto.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plexus::eco::multicast {

using Bytes = std::span<const std::byte>;
using Key = crypto::Digest;

struct PacketHeader {
    std::uint64_t group = 0;
    std::uint32_t call = 0;     ///< number of the call in its group
    std::uint32_t digest = 0;   ///< of the call: operation, sizes, algorithm, epoch of the map
    std::uint32_t sender = 0;   ///< a rank
    std::uint32_t sequence = 0; ///< below `count`
    std::uint32_t count = 0;    ///< datagrams of the call. 0: this one probes the path
    bool operator==(const PacketHeader&) const = default;
};

inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kTagBytes = 16;
/// Where in a datagram these fields begin.
inline constexpr std::uint32_t kGroupAt = 4;
inline constexpr std::uint32_t kSenderAt = 20;
inline constexpr std::uint32_t kCountAt = 28;
/// Bytes of a datagram beside its data.
inline constexpr std::size_t kOverhead = kHeaderBytes + kTagBytes;

/// Replaces the content of `out` by the datagram.
void encode(const PacketHeader& header, Bytes data, const Key& key, std::vector<std::byte>& out);

struct Packet {
    PacketHeader header;
    Bytes data; ///< within the datagram
};
/// What a datagram says of itself, which is cheap to read and may be forged: see is_genuine(). Nothing: it is
/// too short, of another protocol or group, or its sequence number is not below its count.
std::optional<Packet> parse(Bytes datagram, std::uint64_t group);
/// The tag is right, so somebody who holds the key made the datagram. Hashes all of it.
bool is_genuine(Bytes datagram, const Key& key);

} // namespace plexus::eco::multicast
