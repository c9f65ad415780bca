// SPDX-License-Identifier: BSD-3-Clause
// The host's side of one link of a module: the cookie of every callback about the link, what
// arrives on it, and the control frames that wait to leave. Progress thread only, except what
// its channel's lock guards.
#pragma once

#include "base/buffer.h"
#include "transport/interface.h"
#include "transport/peer.h"
#include "transport/receive_window.h"
#include "wire/frame.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_set>

namespace plexus::transport {

class Channel;

/// Memory for one message that arrives in place.
struct Placement {
    Buffer memory;              ///< ours; null if the place is the application's
    std::byte* frame = nullptr; ///< in `memory`: the whole frame, 8-byte aligned
    std::size_t size = 0;
    /// Called instead of the kind's sink when the bytes are in place, or with an error when they
    /// never will be.
    void (*finish)(void* self, Placement&, Status) = nullptr;
    void* self = nullptr;
    std::uint64_t word[6]{}; ///< the finisher's
    std::shared_ptr<const void> pin;
};

/// Encoded frames in order; the peer's account counts them.
class CountedFrames {
  public:
    explicit CountedFrames(PeerAccount& account) noexcept
      : account_(account) {}
    ~CountedFrames() { account_.refund(cost_); }
    CountedFrames(const CountedFrames&) = delete;
    CountedFrames& operator=(const CountedFrames&) = delete;

    void push(wire::Bytes frame) {
        const std::uint64_t cost = sizeof frame + frame.capacity();
        frames_.push_back(std::move(frame));
        account_.charge(cost);
        cost_ += cost;
    }
    const wire::Bytes& front() const noexcept { return frames_.front(); }
    void pop() noexcept {
        const std::uint64_t cost = sizeof(wire::Bytes) + frames_.front().capacity();
        frames_.pop_front();
        account_.refund(cost);
        cost_ -= cost;
    }
    bool empty() const noexcept { return frames_.empty(); }
    std::size_t size() const noexcept { return frames_.size(); }

  private:
    PeerAccount& account_;
    std::uint64_t cost_ = 0;
    std::deque<wire::Bytes> frames_;
};

/// Control frames of one link that have not left. Guarded by the channel's lock.
struct ControlQueue {
    CountedFrames frames;
    std::optional<wire::StreamFrame> ack; ///< only the last one counts
    bool ack_requested = false;           ///< the far side was asked, and has not answered
    bool asks = false;                    ///< a request for an acknowledgement waits to leave
    bool tells_dropped = false;           ///< the numbers of dropped answers and reports wait to leave
    bool empty() const noexcept { return frames.empty() && !ack && !asks && !tells_dropped; }
};

/// What a link has heard, to tell a silent peer from a busy one.
struct Liveness {
    std::uint64_t signs = 0; ///< control frames that came, and parts of messages that are not whole yet
    std::uint64_t seen = 0;  ///< frames of all kinds that had come when it was looked at last
    std::chrono::steady_clock::time_point since{}; ///< nothing has come since
    std::uint32_t asked = 0;                       ///< looks at which the peer was asked since
};

struct Link {
    Link(Interface& by, std::shared_ptr<Peer> to, Channel& of)
      : interface(by)
      , peer(std::move(to))
      , channel(&of)
      , received(by.fragile())
      , controls{CountedFrames(peer->account), {}} {}
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    Interface& interface;
    const std::shared_ptr<Peer> peer;
    Channel* const channel;
    plexus_link* handle = nullptr;
    // Set by the progress thread, read by senders and by who counts links, too; the channel's lock orders
    // what goes with them.
    std::atomic<bool> open{false};
    std::atomic<bool> lost{false};
    bool released = false;     ///< given back to the module
    bool ignored = false;      ///< its stream was given up: what still comes is not delivered
    bool goodbye = false;      ///< the peer has said goodbye on it
    bool past_unknown = false; ///< the peer knew this context before this context forgot the peer
    ReceiveWindow received;
    Liveness liveness;
    std::unordered_set<std::unique_ptr<Placement>> placements;
    /// Tables that came on it, the last 512: pointers that come on it may name them.
    std::deque<std::pair<std::shared_ptr<Peer>, std::shared_ptr<const KnownTable>>> tables;
    ControlQueue controls;
};

} // namespace plexus::transport
