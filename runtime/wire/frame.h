// SPDX-License-Identifier: BSD-3-Clause
// The frames that two contexts exchange over a link: one message, one frame, the kind in
// its first byte. Pure functions over bytes; golden bytes in tests/golden.
//
// Kinds below kFirstUncounted make up a stream: they are delivered in order and exactly
// once, and replayed when a link breaks. The others concern one link only.
#pragma once

#include "plexus/id.h"
#include "wire/bytes.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plexus::wire {

/// Goes up when a frame changes its meaning; sent in the hello, checked there.
inline constexpr std::uint8_t kVersion = 4;

enum class Kind : std::uint8_t {
    request = 1,         ///< run a handler on an object
    reply = 2,           ///< its result, or why there is none
    report = 3,          ///< a one-way request failed at the receiver
    put = 4,             ///< bytes into bound memory
    get = 5,             ///< asks for bytes from bound memory
    data = 6,            ///< the bytes; also the outcome of a put
    declare = 8,         ///< from now on this number means that request
    table = 9,           ///< the descriptor table of some context
    lease_request = 10,  ///< requests the remote key of bound memory
    lease = 11,          ///< the key, or why it is refused
    lease_return = 12,   ///< the key will not be used any more
    lease_recall = 13,   ///< asks for the return of the lease: the memory is not bound any more
    cancel = 14,         ///< nobody waits for these calls any more
    hello = 16,          ///< first on every link that its sender means to use
    ack = 17,            ///< how many frames of the receiver's stream were delivered
    ack_request = 18,    ///< asks for an ack
    replay_request = 19, ///< the sender ends a stream and asks how many of its frames were delivered
    replay_answer = 20,  ///< the number of frames
    goodbye = 21,        ///< this context ends
    dropped = 22,        ///< so many answers or reports to the receiver were dropped
};
inline constexpr std::uint8_t kKinds = 32;
inline constexpr std::uint8_t kFirstUncounted = 16;

enum Flags : std::uint8_t {
    kWantsReply = 1,
    kAckNow = 2,   ///< the sender holds something large until this frame is acknowledged
    kDeadline = 4, ///< a one-way request with a deadline
    // One-way requests only, with kDeadline: a peer that does not know these two carries the request out.
    kUnreliable = 8,  ///< its sender has marked it: it may be dropped
    kNewestWins = 16, ///< the call is a number that grows: dropped where a higher one has come
    /// Never on the wire: it came by a method that loses messages, whose lane is in the call.
    kByDatagram = 32,
};

// Calls have ids of 64 bits, of which a context gives none twice. Headers carry an id as a number
// (the lower half) and a generation (the upper half).

/// 24 bytes, and 8 more with kWantsReply or kDeadline; then the arguments.
struct RequestHeader {
    static constexpr std::size_t kBytes = 24;
    static constexpr std::size_t kMostBytes = 32;
    std::uint8_t flags = 0;
    std::uint16_t request = 0; ///< the sender's number for the request's name, declared before
    std::uint64_t call = 0;    ///< id of the waiting call; with kWantsReply. With kNewestWins: its number
    std::uint64_t key = 0;
    std::uint32_t handle = 0;
    std::uint32_t generation = 0;
    std::uint32_t deadline = 0; ///< milliseconds that were left when the frame was built; 0: no limit

    static constexpr bool extended(std::uint8_t flags) noexcept {
        return (flags & (kWantsReply | kDeadline)) != 0;
    }
    /// Where the arguments begin.
    std::size_t bytes() const noexcept { return extended(flags) ? kMostBytes : kBytes; }
};

/// 16 bytes, then the result (status ok) or a sentence. Kinds reply, data; lease_return and
/// lease_recall, where `call` is the lease's number.
struct ReplyHeader {
    static constexpr std::size_t kBytes = 16;
    std::uint16_t status = 0;
    std::uint64_t call = 0;
};

/// 8 bytes, then a sentence.
struct ReportHeader {
    static constexpr std::size_t kBytes = 8;
    std::uint16_t status = 0;
    std::uint16_t request = 0;
};

/// 48 bytes, then, for a put, the data. Kinds put, get, lease_request.
struct BulkHeader {
    static constexpr std::size_t kBytes = 48;
    std::uint8_t flags = 0;
    std::uint64_t call = 0;
    std::uint64_t key = 0;
    std::uint32_t handle = 0;
    std::uint32_t generation = 0;
    std::uint64_t offset = 0; ///< bytes
    std::uint64_t length = 0; ///< bytes
};

/// 16 bytes, then the memory's key.
struct LeaseHeader {
    static constexpr std::size_t kBytes = 16;
    bool stays = false; ///< may be kept while nothing moves: the memory outlives its binding
    std::uint16_t status = 0;
    std::uint64_t call = 0;   ///< the requester's number
    std::uint32_t number = 0; ///< the owner's number of the lease, for its return
};

struct Declare {
    std::uint16_t request = 0;
    std::uint64_t signature = 0;
    std::string_view name;   ///< 1 to 255 bytes
    std::string_view sender; ///< what its context is called, at most 255 bytes; empty: it has no name
};

/// Kinds ack, ack_request, replay_request, replay_answer: a stream and, if the kind has one, a count.
struct StreamFrame {
    static constexpr std::size_t kBytes = 16;
    std::uint32_t stream = 0;
    std::uint64_t count = 0;
};

/// What the sender could not send.
enum class Dropped : std::uint32_t { answers = 0, reports = 1 };

/// Kind dropped.
struct DroppedFrame {
    static constexpr std::size_t kBytes = 24;
    Dropped what = Dropped::answers; ///< any number: a later release may know more
    std::uint64_t memory = 0;        ///< what the receiver named so in its last hello
    std::uint64_t count = 0;         ///< since that hello
};

struct Hello {
    std::uint8_t version = kVersion;
    std::uint32_t stream = 0;
    std::uint64_t max_message = 0;  ///< the largest message that the sender takes, in bytes; never 0
    std::uint64_t memory = 0;       ///< names what the sender remembers of the receiver
    std::uint64_t known_memory = 0; ///< what the receiver named so in its last hello; 0: none came
    std::uint64_t dropped = 0;      ///< answers since `known_memory` was named
    View table;                     ///< the sender's own, as encode_table() made it
};

/// 8 bytes, then the ids of calls, 8 bytes each. Kind cancel.
inline constexpr std::size_t kCancelHeader = 8;
inline constexpr std::size_t kMostCancelled = 512; ///< calls that one frame names

struct TableFrame {
    ContextId context;
    View table;
};

/// The kind of a frame, or nullopt where it has none that is known.
std::optional<Kind> kind_of(View frame) noexcept;

// Encoders write exactly kBytes (a request: bytes()) to `to`, or append to it. Decoders give nullopt for a
// frame that is too short or whose fields contradict each other.
void encode(Kind kind, const ReplyHeader& header, std::byte* to) noexcept;
void encode(const ReportHeader& header, std::byte* to) noexcept;
void encode(Kind kind, const BulkHeader& header, std::byte* to) noexcept;
void encode(const LeaseHeader& header, std::byte* to) noexcept;
void encode(Kind kind, const StreamFrame& frame, std::byte* to) noexcept;
void encode(const DroppedFrame& frame, std::byte* to) noexcept;
Bytes encode(const Declare& frame);
Bytes encode(const Hello& frame);
Bytes encode(const TableFrame& frame);
Bytes encode_goodbye();
/// At most kMostCancelled calls.
Bytes encode_cancel(std::span<const std::uint64_t> calls);

std::optional<ReplyHeader> decode_reply(View frame) noexcept;
std::optional<ReportHeader> decode_report(View frame) noexcept;
std::optional<BulkHeader> decode_bulk(View frame) noexcept;
std::optional<LeaseHeader> decode_lease(View frame) noexcept;
std::optional<StreamFrame> decode_stream(View frame) noexcept;
std::optional<DroppedFrame> decode_dropped(View frame) noexcept;
std::optional<Declare> decode_declare(View frame) noexcept;
std::optional<Hello> decode_hello(View frame) noexcept;
std::optional<TableFrame> decode_table_frame(View frame) noexcept;
std::optional<std::vector<std::uint64_t>> decode_cancel(View frame);

// Inline: they are on the way of every small request.
inline void encode(const RequestHeader& header, std::byte* to) noexcept {
    Out out(to);
    out.u8(static_cast<std::uint8_t>(Kind::request));
    out.u8(header.flags);
    out.u16(header.request);
    out.u32(static_cast<std::uint32_t>(header.call));
    out.u64(header.key);
    out.u32(header.handle);
    out.u32(header.generation);
    if (RequestHeader::extended(header.flags)) {
        out.u32(static_cast<std::uint32_t>(header.call >> 32));
        out.u32(header.deadline);
    }
}

inline std::optional<RequestHeader> decode_request(View frame) noexcept {
    if (frame.size() < RequestHeader::kBytes) return std::nullopt;
    In in(frame.subspan(1));
    RequestHeader header;
    header.flags = in.u8();
    header.request = in.u16();
    header.call = in.u32();
    header.key = in.u64();
    header.handle = in.u32();
    header.generation = in.u32();
    if (RequestHeader::extended(header.flags)) {
        if (frame.size() < RequestHeader::kMostBytes) return std::nullopt;
        header.call |= std::uint64_t{in.u32()} << 32;
        header.deadline = in.u32();
    }
    return header;
}

} // namespace plexus::wire
