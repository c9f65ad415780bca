// SPDX-License-Identifier: BSD-3-Clause
// What two processes see of each other: the shape of the shared pages, and nothing else.
// Both ends are of the same machine and the same version of this file (kVersion is
// compared when a link is set up). All of it may be scribbled on by the other side at any
// time: whoever reads a value copies it once and checks the copy.
//
//   segment of a link   [Direction 0][Direction 1] ... 4096: [ring 0][ring 1]
//                       0 is written by the side that connects, 1 by the one that accepts
//   mailbox             one page of each context, written by all its peers
//   area                bytes of one direction's larger messages, made at the first of them
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plexus::shm {

inline constexpr std::uint32_t kVersion = 6;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kMostArea = std::size_t{1} << 30; ///< bytes of a shared area
inline constexpr std::uint32_t kSamples = 16; ///< messages of a direction that are measured at once

/// A cache line of a ring. A record starts with a line's `word`; its body goes on through
/// the following lines, words included, without a gap.
struct alignas(kLineBytes) Line {
    std::atomic<std::uint64_t> word;
    std::byte body[kLineBytes - sizeof(std::uint64_t)];
};
inline constexpr std::size_t kLineBody = sizeof(Line::body);

enum class Kind : std::uint8_t {
    message = 1, ///< the body is the message
    filler = 2,  ///< go on at the start of the ring
    area = 3,    ///< AreaBody: a whole message in the area
    fetch = 4,   ///< FetchHead, then addresses: read it from the sender's memory
    stream = 5,  ///< StreamHead: a message that follows in chunks
    chunk = 6,   ///< AreaBody: the next part of it
};

/// A word says in one load: which lap of the ring wrote it, what it is, how long its body is.
constexpr std::uint64_t word_of(std::uint32_t lap, Kind kind, std::uint32_t size) noexcept {
    return lap | std::uint64_t{size} << 32 | std::uint64_t{static_cast<std::uint8_t>(kind)} << 56;
}
constexpr std::uint32_t lap_in(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t size_in(std::uint64_t word) noexcept { return (word >> 32) & 0xffffff; }
constexpr Kind kind_in(std::uint64_t word) noexcept { return static_cast<Kind>(word >> 56); }

/// Lines that a record with this body takes.
constexpr std::uint64_t lines_for(std::uint64_t body_bytes) noexcept {
    return (body_bytes + sizeof(std::uint64_t) + kLineBytes - 1) / kLineBytes;
}

struct AreaBody {
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t release_to; ///< the receiver says this in Direction::released when done
    std::uint64_t sample = 0; ///< Kind::area: its time goes to Direction::spent[sample - 1]; 0: nowhere
};

struct FetchHead {
    std::uint64_t rest; ///< bytes behind the head
    std::uint32_t head_size;
    std::uint32_t pieces; ///< FetchPiece, behind this
    std::uint32_t sample; ///< as AreaBody::sample
    std::uint32_t unused;
    std::byte head[64];
};
struct FetchPiece {
    std::uint64_t address;
    std::uint64_t size;
};

inline constexpr std::uint32_t kMostFetchPieces = 48; // with the head, they fit the smallest ring's quarter

struct StreamHead {
    std::uint64_t rest;
    std::uint32_t head_size;
    std::uint32_t sample; ///< as AreaBody::sample
    std::byte head[64];
};

/// One direction of a link, without its ring. What one side writes and the other side does not has cache
/// lines of its own.
struct Direction {
    enum Attention : std::uint32_t { doorbell = 0, direct = 1 };

    /// By the receiver, rarely; the sender looks at it after each message. direct: the
    /// receiver polls this link; doorbell: it has to be told.
    alignas(kLineBytes) std::atomic<std::uint32_t> attention;

    /// By the receiver: how far it is. All only grow.
    alignas(kLineBytes) std::atomic<std::uint64_t> consumed; ///< lines of the ring
    std::atomic<std::uint64_t> released;                     ///< of the area, AreaBody::release_to
    std::atomic<std::uint64_t> fetched;                      ///< messages of Kind::fetch
    /// Bit n % 64: the n-th of them is lost. Stored before `fetched`.
    std::atomic<std::uint64_t> fetch_failed;
    /// Grows each time that the receiver could not read the oldest message of Kind::fetch: it waits for the
    /// bytes from `wanted_from` on (behind the head), which come by the socket in shared memory. No byte
    /// comes twice: whoever asks for what has come, or what is lost, gets no answer.
    std::atomic<std::uint64_t> asked;
    std::atomic<std::uint64_t> wanted_from; ///< stored before `asked`
    std::atomic<std::uint32_t> can_fetch;   ///< the kernel lets the receiver read the sender's memory
    std::atomic<std::uint32_t> deaf;        ///< the receiver has given the link up

    /// By both: the sender asks to be told of progress, the receiver takes it back.
    alignas(kLineBytes) std::atomic<std::uint32_t> waiting;
    /// By the sender: it has given the link up of its own will.
    std::atomic<std::uint32_t> finished;

    /// Time that the receiver took for a measured message, ns; the sender has stored 0 before, and UINT32_MAX
    /// says nothing.
    alignas(kLineBytes) std::atomic<std::uint32_t> spent[kSamples];
};

/// Where peers tell a context that it has work: two levels of bits, one bit per link.
struct MailboxPage {
    static constexpr std::uint32_t kWords = 64;
    static constexpr std::uint32_t kBits = kWords * 64;

    alignas(kLineBytes) std::atomic<std::uint32_t> sleeping; ///< its eventfd has to be written too
    alignas(kLineBytes) std::atomic<std::uint64_t> summary;  ///< a bit per word that isn't zero
    alignas(kLineBytes) std::atomic<std::uint64_t> words[kWords];
};

static_assert(sizeof(Line) == kLineBytes);
static_assert(2 * sizeof(Direction) <= kPageBytes && sizeof(MailboxPage) <= kPageBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

constexpr std::size_t segment_bytes(std::uint32_t ring_lines) noexcept {
    return kPageBytes + 2 * std::size_t{ring_lines} * kLineBytes;
}

} // namespace plexus::shm
