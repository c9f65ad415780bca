// SPDX-License-Identifier: BSD-3-Clause
// A channel (the "communication object" of Nexus, section 3.1): the way to one context by one
// method, shared by all pointers that use both. Owns its links, dials, waits for room; its outbox sends.
// It never decides what a broken link means: Failover asks it and tells it. Knows nothing of what the
// frames mean.
#pragma once

#include "base/mutex.h"
#include "plexus/table.h"
#include "transport/outbox.h"

#include <optional>
#include <string>
#include <vector>

namespace plexus::detail {

/// What the public headers know of the channel that a frame came by.
class Channel {
  public:
    explicit Channel(transport::Endpoint& endpoint) noexcept
      : endpoint_(endpoint) {}
    transport::Endpoint& endpoint() const noexcept { return endpoint_; }

  protected:
    transport::Endpoint& endpoint_;
};

} // namespace plexus::detail

namespace plexus::transport {

class Channel : public detail::Channel {
  public:
    Channel(Endpoint& endpoint, Peer& peer, Interface& interface, Descriptor row);

    /// Sends a frame, in order with all others. ok: the pieces may be reused. `again`: only
    /// inside a turn, the queue is full. link_lost: choose another way. @thread any
    Status send(Frame& frame, std::string* why) PLEXUS_EXCLUDES(mutex_);

    /// The same for a frame of one piece, if it can leave now: the link is open, nothing waits
    /// before it, and the far side knows `request`. @thread any
    bool send_at_once(wire::View frame, std::uint16_t request) PLEXUS_EXCLUDES(mutex_);

    /// Waits until all that was given to the channel so far has been delivered, by this channel or
    /// by the one that took over. False: not yet (only inside a turn), or the context closes. @thread any
    bool settle() PLEXUS_EXCLUDES(mutex_);

    /// Runs f(link, stream) with the link that frames leave by, null: there is none, and the stream that
    /// names it for as long as it lives. Under the channel's lock. @thread any
    template <class F>
    auto on_way_out(F f) const PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        const Link* const out = outbox_.held() ? nullptr : outbox_.out();
        return f(out != nullptr && !out->lost ? out->handle : nullptr, outbox_.frames().window().stream());
    }
    /// Runs f(outbox) under the channel's lock.
    template <class F>
    auto on_outbox(F f) PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        return f(outbox_);
    }

    /// What went by it so far. @thread any
    BothWays traffic() const PLEXUS_EXCLUDES(mutex_);

    Interface& interface() const noexcept { return interface_; }
    /// "tcp", or "libfabric:verbs": which way of its method it is.
    const std::string& row_name() const noexcept { return name_; }
    Peer& peer() const noexcept { return peer_; }
    /// This channel, or, if it is dead, the one that took over its frames in the end; null: none did.
    Channel* successor() PLEXUS_EXCLUDES(mutex_);
    bool dead() const noexcept { return dead_.load(std::memory_order_acquire); } // pairs with [dead]
    /// True if it may carry what this row asks for. A channel that came to be when the peer
    /// connected to us learns here how to reach the peer.
    bool serves(const Descriptor& row) PLEXUS_EXCLUDES(mutex_);

    // For Demux and Failover. @thread progress
    /// The peer connected to us.
    Link& accept(plexus_link* handle) PLEXUS_EXCLUDES(mutex_);
    /// Sends by this link from now on, if there is no other.
    void adopt(Link& link) PLEXUS_EXCLUDES(mutex_);
    /// The peer's own table is known: how to reach the peer, should this link break.
    void learn(const KnownTable& table) PLEXUS_EXCLUDES(mutex_);

    /// What a broken link meant to the channel.
    struct Loss {
        bool was_way = false;      ///< the link was the way out, or was to become it
        std::uint64_t unknown = 0; ///< frames that may not have arrived and will not be sent again
        std::uint32_t in_vain = 0; ///< links in a row that brought nothing
    };
    Loss link_lost(Link& link, const std::string& why) PLEXUS_EXCLUDES(mutex_);
    /// Gives a link back to its module; take_out() then ends it.
    void release(Link& link) PLEXUS_EXCLUDES(mutex_);
    /// Null: all that are left of a module that is no more.
    std::vector<std::unique_ptr<Link>> take_out(const Link* link) PLEXUS_EXCLUDES(mutex_);
    /// The links that are open now; whoever goes through them is on the progress thread. @thread any
    std::vector<Link*> open_links() const PLEXUS_EXCLUDES(mutex_);

    /// No link and none to come: dials, or waits for the peer where it can't be dialled. If the channel
    /// waits for the peer, it dials as well, if it is known how.
    void reconnect() PLEXUS_EXCLUDES(mutex_);
    /// Waits for the peer to come back instead of dialling. Only where it may return.
    void await_peer() PLEXUS_EXCLUDES(mutex_);

    /// Takes out all frames. Senders wait until end() says where they are.
    Backlog begin_move() PLEXUS_EXCLUDES(mutex_);
    /// The frames are with `next`, or (null) nowhere: from now on the channel is dead.
    void end(Channel* next) PLEXUS_EXCLUDES(mutex_);
    void adopt(Backlog backlog) PLEXUS_EXCLUDES(mutex_);
    /// A dead channel whose frames have all been settled elsewhere may be used again. @thread any
    bool revive(const Descriptor& row) PLEXUS_EXCLUDES(mutex_);

    struct Condition {
        bool over = false;       ///< dead
        bool idle = false;       ///< no link, and none to come by itself
        bool awaits = false;     ///< waits for the peer to come back
        bool leads = false;      ///< has a link to send by, or a dial is under way, or it awaits the peer
        bool may_return = false; ///< the peer has connected by it; nothing is under way to the peer
        bool at_stake = false;   ///< it holds frames whose fate is open, or threads wait for it
        bool unused = false;     ///< no link, no frames, and no module reads memory of its frames
    };
    /// @thread any
    Condition condition() const PLEXUS_EXCLUDES(mutex_);

  private:
    enum class State : std::uint8_t {
        idle,       ///< no link, nothing to do
        connecting, ///< a link is being made
        awaiting,   ///< no link can be made from here: the peer may come back
        open,       ///< has a link
        moving,     ///< its frames are on their way to another channel
        dead,       ///< this method does not reach the peer: choose again
    };

    Status slow_send(Frame& frame, std::string* why) PLEXUS_EXCLUDES(mutex_);
    Status try_send(Frame& frame, Waiter& waiter, bool inside) PLEXUS_REQUIRES(mutex_);
    void connect() PLEXUS_REQUIRES(mutex_);
    std::string explain(Status status) const PLEXUS_EXCLUDES(mutex_);

    /// How the peer is reached, and how far that has come.
    struct Way {
        Descriptor row; ///< no bytes: the peer came to us, and it is not known how to dial it
        State state = State::idle;
        bool came_to_us = false; ///< the peer has connected to us by this channel
        std::string last_error;
        std::uint32_t waiting = 0; ///< threads that wait to send
        std::uint32_t in_vain = 0; ///< see Loss
    };

    Peer& peer_;
    Interface& interface_;
    const std::string name_;

    mutable RankedSpinlock<30> mutex_;
    Outbox outbox_ PLEXUS_GUARDED_BY(mutex_);
    Way way_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::unique_ptr<Link>> links_ PLEXUS_GUARDED_BY(mutex_);
    Traffic received_ PLEXUS_GUARDED_BY(mutex_);        ///< by links that are no more
    Link* dialing_ PLEXUS_GUARDED_BY(mutex_) = nullptr; ///< the dial that is awaited
    Channel* successor_ PLEXUS_GUARDED_BY(mutex_) = nullptr;

    std::atomic<bool> dead_{false}; // [dead] set after the successor has all frames
};

/// So much waits or is kept that answers to the peer will soon find no room. @thread any
inline bool is_crowded(Channel& channel) {
    const EndpointOptions& options = channel.endpoint().options();
    const std::uint64_t queue = options.handler_queue;
    return channel.on_outbox(
        [&](const Outbox& outbox) { // threads that wait for room occupy up to limits.retain
            const KeptFrames& frames = outbox.frames();
            const std::uint64_t most =
                std::min((frames.window().retains() ? options.retain : 0) + queue / 32, queue / 2);
            return frames.held() > most ||
                   frames.held() + frames.held_elsewhere() > std::max(most, queue / 2);
        });
}

/// What the module says of the way out, or of itself where there is none; what is not with the module yet
/// counts as queued. @thread any
std::uint64_t query(Channel& channel, plexus_query what);

} // namespace plexus::transport
