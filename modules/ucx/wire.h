// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of a link say to each other, byte by byte, little-endian. Reading trusts
// nothing. Pure values.
//
// Every active message carries a header, before its payload or, a large one's, apart from it,
// that names the receiving end: its slot and its
// token, random and told to the peer alone, so that nobody else can speak on the link.
#pragma once

#include "plexus/module/handshake.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plexus::ucx {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline constexpr std::uint32_t kNoSlot = UINT32_MAX;

enum class Kind : std::uint8_t {
    hello = 1, // to no slot yet
    answer,
    confirm, // ordered: the first one of the side that connects
    small,   // ordered: a message
    large,   // ordered: a message whose head stands behind the header
    bye,     // ordered: the last one
};

struct Header {
    static constexpr std::size_t kBytes = 16;

    std::uint64_t token = 0;
    std::uint32_t slot = kNoSlot;
    std::uint16_t number = 0; ///< of ordered ones, from 0, modulo 2^16
    Kind kind = Kind::bye;
    std::uint8_t head = 0; ///< bytes of a large message's piece 0, which follow

    void write(std::uint8_t* out) const noexcept;
    static Header read(const void* from) noexcept; ///< kBytes of them
};

/// Where one end of a link is spoken to.
struct End {
    std::uint32_t slot = kNoSlot;
    std::uint64_t token = 0;
};

/// The first word of a link, from the side that connects.
struct Hello {
    End end;
    Bytes descriptor; ///< of the side that connects
    std::array<std::uint8_t, module::Handshake::kHelloBytes> record{};

    Bytes write() const;
    static std::optional<Hello> read(ByteView bytes);
};

struct Answer {
    End end;
    std::array<std::uint8_t, module::Handshake::kAnswerBytes> record{};

    Bytes write() const;
    static std::optional<Answer> read(ByteView bytes);
};

/// Appends a proof over all of `message` under the job's key, and checks and drops it: it
/// covers what the handshake's own records do not know, slots, tokens and addresses.
void sign(const plexus_host& host, Kind kind, Bytes& message);
std::optional<ByteView> signed_part(const plexus_host& host, Kind kind, ByteView message);

} // namespace plexus::ucx
