// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of a link say to each other, byte by byte, little-endian. Reading trusts
// nothing. Pure values.
//
// Every message starts with a header that names the receiving end: its slot and its token,
// random and told to the peer alone, so that nobody else can speak on the link.
#pragma once

#include "plexus/module/abi.h"
#include "plexus/module/handshake.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plexus::libfabric {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

inline constexpr std::uint8_t kWireVersion = 1;
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::uint32_t kNoSlot = (1u << 24) - 1;

enum class Kind : std::uint8_t {
    hello = 1, // to no slot yet
    answer,
    confirm,
    message, // ordered, counted
    large,   // ordered, counted: announces what is fetched, or follows as parts
    part,    // ordered, counted: of the large message before it
    bye,     // ordered: the last one
    fetched, // the receiver is through with a large message
    credit,  // nothing but its header
    ping,    // wants a credit
};

struct Header {
    std::uint64_t token = 0;
    std::uint32_t slot = kNoSlot;
    Kind kind = Kind::credit;
    std::uint16_t number = 0; ///< of ordered messages, from 0, modulo 2^16
    std::uint16_t taken = 0;  ///< counted messages of the other direction that are done with, ditto
};
void write_header(std::byte* out, const Header& header) noexcept;
Header read_header(const std::byte* from) noexcept; ///< kHeaderBytes of them

/// One stretch of a sender's memory.
struct Stretch {
    std::uint64_t address = 0; ///< as the provider wants it: virtual, or from the key's start
    std::uint64_t key = 0;
    std::uint64_t size = 0;
};

struct LargeNote {
    static constexpr std::size_t kMostStretches = 16;
    static constexpr std::size_t kMostBytes = 4 + 4 + 8 + 1 + PLEXUS_HEAD_MAX + 1 + kMostStretches * 24;

    std::uint32_t id = 0;
    std::uint32_t revision = 0; ///< of the sender's page, see Page::revision()
    std::uint64_t rest = 0;     ///< bytes after the head
    std::size_t head_size = 0;
    std::array<std::byte, PLEXUS_HEAD_MAX> head{};
    std::size_t count = 0; ///< of stretches; 0: the rest follows as parts
    std::array<Stretch, kMostStretches> stretches{};

    std::size_t write(std::byte* out) const noexcept; ///< at most kMostBytes; how many
    static std::optional<LargeNote> read(ByteView bytes);
};

/// The first message of a link, from the side that connects.
struct Hello {
    std::uint32_t slot = kNoSlot;
    std::uint64_t token = 0;
    std::uint16_t window = 0;
    std::uint32_t eager = 0; ///< bytes that its receive buffers hold
    Bytes descriptor;        ///< of the side that connects
    std::array<std::uint8_t, module::Handshake::kHelloBytes> record{};

    Bytes write() const;
    static std::optional<Hello> read(ByteView bytes);
};
struct Answer {
    std::uint32_t slot = kNoSlot;
    std::uint64_t token = 0;
    std::uint16_t window = 0;
    std::uint32_t eager = 0; ///< bytes that its receive buffers hold
    bool rings = false;      ///< the side that answers can wake the other
    std::array<std::uint8_t, module::Handshake::kAnswerBytes> record{};

    Bytes write() const;
    static std::optional<Answer> read(ByteView bytes);
};
struct Confirm {
    bool rings = false;
    std::array<std::uint8_t, module::Handshake::kConfirmBytes> record{};

    Bytes write() const;
    static std::optional<Confirm> read(ByteView bytes);
};

/// Appends a proof over all of `message` under the job's key, and checks and drops it. It
/// covers what the handshake's own records do not know: slots, tokens and addresses.
void sign(const plexus_host& host, Kind kind, Bytes& message);
std::optional<ByteView> signed_part(const plexus_host& host, Kind kind, ByteView message);

/// Reads forward; once it has run over the end, everything is zero and ok() false.
class Reader {
  public:
    explicit Reader(ByteView bytes)
      : bytes_(bytes) {}
    std::uint64_t number(std::size_t size);
    ByteView take(std::size_t size);
    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return ok_ && bytes_.empty(); }

  private:
    ByteView bytes_;
    bool ok_ = true;
};
void put(Bytes& out, std::uint64_t value, std::size_t size);

} // namespace plexus::libfabric
