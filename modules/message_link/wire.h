// SPDX-License-Identifier: BSD-3-Clause
// The messages between the two ends of a link, byte by byte, little-endian. Reading trusts
// nothing. Pure values.
//
// Every message starts with a header that names the receiving end: its slot and its token,
// random and told to the peer alone, so that nobody else can speak on the link.
#pragma once

#include "common/bytes.h"
#include "plexus/module/abi.h"
#include "plexus/module/handshake.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plexus::message_link {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;
using module::ByteReader;

inline constexpr std::uint8_t kWireVersion = 1;
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::uint32_t kNoSlot = (1u << 24) - 1;
inline constexpr std::size_t kMostDescriptor = 1024;

enum class Kind : std::uint8_t {
    hello = 1, // to no slot yet
    answer,
    confirm,
    message,   // ordered, counted
    announced, // ordered, counted: a large message that the receiver fetches, or that follows as parts
    part,      // ordered, counted: of the announced message before it
    bye,       // ordered: the last one
    fetched,   // the receiver has fetched an announced message
    credit,    // nothing but its header
    ping,      // asks for a credit
    carried,   // ordered, counted: the head of a large message; the port moves the rest
};

/// Numbered, and handed over in the order of the numbers.
constexpr bool is_ordered(Kind kind) noexcept {
    return kind == Kind::message || kind == Kind::announced || kind == Kind::part || kind == Kind::bye ||
           kind == Kind::carried;
}
/// Takes up room at the receiver until that has taken it.
constexpr bool is_counted(Kind kind) noexcept { return is_ordered(kind) && kind != Kind::bye; }

struct Header {
    std::uint64_t token = 0;
    std::uint32_t slot = kNoSlot;
    Kind kind = Kind::credit;
    std::uint16_t number = 0; ///< of ordered messages, from 0, modulo 2^16
    std::uint16_t taken = 0;  ///< counted messages of the other direction that were taken, ditto

    void write(std::byte* out) const noexcept;
    static Header read(const std::byte* from) noexcept; ///< kHeaderBytes of them
};

/// One stretch of a sender's memory.
struct Stretch {
    std::uint64_t address = 0; ///< as the provider wants it: virtual, or from the key's start
    std::uint64_t key = 0;
    std::uint64_t size = 0;
};

/// The body of an announced message.
struct Announcement {
    static constexpr std::size_t kMostStretches = 16;
    static constexpr std::size_t kMostBytes = 4 + 4 + 8 + 1 + PLEXUS_HEAD_MAX + 1 + kMostStretches * 24;

    std::uint32_t id = 0;
    std::uint32_t revision = 0; ///< of the memory that the sender's slot offers
    std::uint64_t rest = 0;     ///< bytes after the head
    std::size_t head_size = 0;
    std::array<std::byte, PLEXUS_HEAD_MAX> head{};
    std::size_t count = 0; ///< of stretches; 0: the rest follows as parts
    std::array<Stretch, kMostStretches> stretches{};

    std::size_t write(std::byte* out) const noexcept; ///< at most kMostBytes; how many
    static std::optional<Announcement> read(ByteView bytes);
};

/// How one end of a link is spoken to.
struct End {
    std::uint32_t slot = kNoSlot;
    std::uint64_t token = 0;
    std::uint16_t window = 0; ///< counted messages that may be under way to it
    std::uint32_t eager = 0;  ///< bytes that its receive buffers hold
};

/// The first message of a link, from the side that connects.
struct Hello {
    End end;
    Bytes descriptor; ///< of the side that connects
    std::array<std::uint8_t, module::Handshake::kHelloBytes> record{};

    Bytes write() const;
    static std::optional<Hello> read(ByteView bytes);
};
struct Answer {
    End end;
    bool sees = false; ///< the side that answers sees the other's memory page, see Peer::sees_us()
    std::array<std::uint8_t, module::Handshake::kAnswerBytes> record{};

    Bytes write() const;
    static std::optional<Answer> read(ByteView bytes);
};
struct Confirm {
    bool sees = false;
    std::array<std::uint8_t, module::Handshake::kConfirmBytes> record{};

    Bytes write() const;
    static std::optional<Confirm> read(ByteView bytes);
};

/// Appends a proof over all of `message` under the job's key, and checks and drops it. The proof
/// covers what the handshake's own records do not know: slots, tokens and addresses.
void sign(const plexus_host& host, Kind kind, Bytes& message);
std::optional<ByteView> signed_part(const plexus_host& host, Kind kind, ByteView message);

} // namespace plexus::message_link
