// SPDX-License-Identifier: BSD-3-Clause
// What neighbours on a forwarded way say to each other: two requests, on the object that each context binds
// for that. They travel by the ordinary channel between two contexts, so a hop keeps their order and loses
// none.
//
//   open     target, instance, window, hello   the connecting end, by way of forwarders
//   opened   window, answer                    the target; the window is the smallest that anybody has said
//   confirm  proof                             the connecting end: handshake.h has these three records
//   data     a message, or the first piece of one: bytes of its head and of all of it, bytes
//   more     the next piece
//   credit   so many bytes of data have been taken: as many more may be sent
//   close    a status and a sentence; the number of the link is free again
//
// A link has a number at each hop, chosen by the side that opened it there.
#pragma once

#include "plexus/pointer.h"
#include "wire/bytes.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace plexus::forward {

class Hub;

inline constexpr Request<void(Hub&, std::uint8_t, std::uint32_t, std::uint64_t, std::span<const std::byte>)>
    kHop{"plexus.forward.hop"};
/// "You reach me by this pointer": from whoever wants to be reached, or to relay, before the first hop.
inline constexpr Request<void(Hub&, GlobalPointer<Hub>)> kAttach{"plexus.forward.attach"};

enum class Kind : std::uint8_t { open = 1, opened, confirm, data, more, credit, close };

/// In the first byte of a hop beside the kind: the receiver has chosen the number.
inline constexpr std::uint8_t kYours = 0x80;

/// What a hop counts beside its bytes.
inline constexpr std::uint64_t kHopCost = 256;
/// The most bytes of a message in one hop: by a small window, and by a large one, where what keeps the hop
/// fills a buffer that is used again (base/buffer.h).
inline constexpr std::size_t kLeastPiece = 60 * 1024;
inline constexpr std::size_t kMostPiece = 128 * 1024 - 2 * kHopCost;
/// What hops that carry no data may hold of a neighbour beside the windows; the largest record of handshake.h
/// with room for more.
inline constexpr std::uint64_t kBesideWindows = 1 << 20;
inline constexpr std::size_t kMostRecord = 256;
/// So long the forwarders and the far end may take to answer who asks for a link, and that one to confirm.
inline constexpr auto kOpening = std::chrono::seconds(10);
/// Two pieces are always under way.
inline constexpr std::uint64_t kLeastWindow = 2 * (kLeastPiece + kHopCost);

/// Four pieces fill a window, if it is not small.
constexpr std::size_t piece_by(std::uint64_t window) noexcept {
    return std::clamp<std::uint64_t>(window / 4 - kHopCost, kLeastPiece, kMostPiece);
}

/// What may wait for one neighbour of a context that relays with so much memory.
constexpr std::uint64_t most_queued(std::uint64_t memory) noexcept { return memory / 2 + kBesideWindows; }

struct Hop {
    Kind kind{};
    std::uint64_t number = 0; ///< window, sizes, credit or status
    wire::View bytes;
    std::shared_ptr<const void>
        pin{}; ///< keeps the bytes; null: they are copied if the hop outlives its call

    std::uint64_t cost() const noexcept { return bytes.size() + kHopCost; }
};

/// Sizes of a message in one number: the head has at most PLEXUS_HEAD_MAX bytes.
constexpr std::uint64_t sizes(std::size_t head, std::uint64_t total) noexcept { return total << 8 | head; }
constexpr std::size_t head_in(std::uint64_t sizes) noexcept { return sizes & 0xff; }
constexpr std::uint64_t total_in(std::uint64_t sizes) noexcept { return sizes >> 8; }

/// Where an `open` leads.
struct Destination {
    ContextId context;
    std::uint8_t instance = 0;
    wire::View hello;
};

class Neighbour;

/// A link at one hop.
struct LinkName {
    Neighbour* neighbour = nullptr;
    std::uint32_t number = 0;
    bool mine = false; ///< this context has chosen the number

    auto operator<=>(const LinkName&) const = default;
};

/// Whatever a link ends in here: a module's link, or one side of a relayed one. @thread progress
class HopEnd {
  public:
    virtual ~HopEnd() = default;
    /// Calls no module and no program. The name is unbound before `close` is given.
    virtual void take(const LinkName& from, const Hop& hop) = 0;
    /// The neighbour is lost; the name is unbound.
    virtual void cut(const LinkName& from, const std::string& why) = 0;
    /// The context at the other end of a link of this one; null: none yet, or the link is of others.
    virtual const ContextId* far_end() const = 0;
};

} // namespace plexus::forward
