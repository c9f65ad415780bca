// SPDX-License-Identifier: BSD-3-Clause
// What a datagram looks like: 16 bytes in the clear, then a record of the handshake or sealed bytes.
// Reading trusts nothing. Pure functions over bytes; numbers are big-endian.
//
//   kind 1, version 1, zero 2, to 4, number 8
//
//   hello    to: 0                          number: how the sender calls the session
//   answer   to: as the dialling side said  number: how the sender calls the session
//   confirm  to: as the answer said         number: 0
//   sealed   to: as the other side said     number: of the datagram in its direction, from 1
//
// The plaintext of a sealed datagram begins with one byte that says what it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace plexus::udp {

enum class Kind : std::uint8_t { hello = 1, answer = 2, confirm = 3, sealed = 4 };

enum class Content : std::uint8_t {
    alive = 0,   ///< nothing: the sender is there
    message = 1, ///< one message of the host
    bye = 2,     ///< the sender has given the session up
};

using Bytes = std::span<const std::uint8_t>;

struct Header {
    static constexpr std::size_t kBytes = 16;
    Kind kind = Kind::sealed;
    std::uint32_t to = 0;
    std::uint64_t number = 0;
};

inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kTagBytes = 16; ///< after the sealed bytes
/// What a message costs beside its own bytes.
inline constexpr std::size_t kOverhead = Header::kBytes + 1 + kTagBytes;
/// The largest payload of a UDP datagram, and what IP and UDP put before it.
inline constexpr std::size_t kMostPayload = 65507;
inline constexpr std::size_t kBefore4 = 20 + 8;
inline constexpr std::size_t kBefore6 = 40 + 8;

/// The largest message in one datagram on a path whose packets have at most `mtu` bytes; 0: not even an empty
/// one.
std::size_t most_message(std::size_t mtu, bool v4) noexcept;

/// Writes kBytes.
void encode(const Header& header, std::uint8_t* to) noexcept;

struct Datagram {
    Header header;
    Bytes rest; ///< a record, of the size that its kind has; or sealed bytes and their tag
};

/// Nothing: these bytes are no datagram of this version.
std::optional<Datagram> decode(Bytes bytes) noexcept;

} // namespace plexus::udp
