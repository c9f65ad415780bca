// SPDX-License-Identifier: BSD-3-Clause
// A communication object: the way to one context by one method, shared by all pointers
// that use both (Nexus, section 3.1). Sends, queues where it must, keeps copies where the
// link may break, and replays them. Knows nothing of what the frames mean.
#pragma once

#include "base/mutex.h"
#include "comm/connection.h"
#include "comm/parcel.h"
#include "plexus/table.h"

#include <deque>
#include <list>
#include <string>
#include <unordered_set>
#include <vector>

namespace plexus::comm {
class Exchange;
}

namespace plexus::detail {

/// What the public headers know of the way that a frame came by.
class Channel {
  public:
    explicit Channel(comm::Exchange& exchange) noexcept
      : exchange_(exchange) {}
    comm::Exchange& exchange() const noexcept { return exchange_; }

  protected:
    comm::Exchange& exchange_;
};

} // namespace plexus::detail

namespace plexus::comm {

class Peer;
struct KnownTable;

/// True if the names of two ends' rows allow a link between them: a context that has but one way by
/// a method gives it no label.
constexpr bool share_rows(std::string_view one, std::string_view other) noexcept {
    return means_row(one, other) || means_row(other, one);
}

class Object : public detail::Channel {
  public:
    enum class State : std::uint8_t {
        idle,       ///< no link, nothing to do
        connecting, ///< a link is being made
        open,       ///< ready, or recovering
        dead,       ///< this method does not reach the peer: choose again
    };

    Object(Exchange& exchange, Peer& peer, Method& method, Descriptor row);

    /// Sends a frame, in order with all others. ok: the pieces may be reused. `again`: only
    /// inside a turn, the queue is full. link_lost: choose another way. @thread any
    Status send(Frame& frame, std::string* why) PLEXUS_EXCLUDES(mutex_);

    /// The same for a frame of one piece, if it can leave now: the link is open, its turn has
    /// come, and the far side knows `request`. @thread any
    bool send_at_once(wire::View frame, std::uint16_t request) PLEXUS_EXCLUDES(mutex_);

    /// Waits until all that was sent so far has been delivered. False: the link broke first,
    /// or (inside a turn) it can't be known yet. @thread any
    bool settle() PLEXUS_EXCLUDES(mutex_);

    // Remote memory access, where the method has it (memory.cpp).
    /// The peer's memory, for as long as the link lives that `stream` is of.
    struct Reach {
        std::uint32_t stream = 0;
        plexus_remote* remote = nullptr;
    };
    /// What the method does better by itself than by messages.
    bool moves_memory(std::size_t bytes) const noexcept {
        return method_.remote_bytes != 0 && bytes >= method_.remote_bytes;
    }
    /// @error what the module says; link_lost: there is none now. @thread any
    Result<Reach> attach(wire::View key) PLEXUS_EXCLUDES(mutex_);
    void detach(const Reach& reach) noexcept PLEXUS_EXCLUDES(mutex_);
    /// ok: the bytes are in place. posted: `done` will be told. Others: nothing was moved. @thread any
    Status get(const Reach& reach, std::uint64_t offset, std::span<std::byte> into, Posted* done)
        PLEXUS_EXCLUDES(mutex_);
    Status put(const Reach& reach, std::uint64_t offset, std::span<const std::byte> from, Posted* done)
        PLEXUS_EXCLUDES(mutex_);

    Method& method() const noexcept { return method_; }
    /// "tcp", or "libfabric:verbs": which way of its method it is.
    const std::string& row_name() const noexcept { return name_; }
    Peer& peer() const noexcept { return peer_; }
    /// True if it may carry what this row asks for. An object that came to be when the peer
    /// connected to us learns here how to reach it.
    bool serves(const Descriptor& row) PLEXUS_EXCLUDES(mutex_);
    /// The peer's own table is known: how to reach it, should this link break.
    void learn(const KnownTable& table) PLEXUS_EXCLUDES(mutex_);
    bool dead() const noexcept { return dead_.load(std::memory_order_acquire); } // pairs with [dead]
    /// Has a link that is open, or could have one at once.
    bool ready() const PLEXUS_EXCLUDES(mutex_);
    std::uint64_t query(plexus_query what) const PLEXUS_EXCLUDES(mutex_);

    // Called by the exchange. @thread progress
    void adopt(Connection& connection) PLEXUS_EXCLUDES(mutex_);
    /// True if it was the way out, or was to become it.
    bool link_lost(Connection& connection, Status status, const std::string& why) PLEXUS_EXCLUDES(mutex_);
    void confirmed(std::uint32_t stream, std::uint64_t count) PLEXUS_EXCLUDES(mutex_);
    void recovered(std::uint32_t stream, std::uint64_t count) PLEXUS_EXCLUDES(mutex_);
    void flush(Connection& connection) PLEXUS_EXCLUDES(mutex_);
    void control(Connection& connection, wire::Bytes bytes) PLEXUS_EXCLUDES(mutex_);
    /// Gives a connection back to its module.
    void release(Connection& connection) PLEXUS_EXCLUDES(mutex_);

    /// Frames that were sent in a stream that is no more, and may or may not have arrived.
    struct Recovery {
        std::uint32_t stream;
        std::uint64_t first; ///< count of the frame before the first of them
        std::deque<std::unique_ptr<Parcel>> parcels;
    };
    struct Estate {
        std::list<Recovery> recoveries;
        std::deque<std::unique_ptr<Parcel>> replay; ///< of answered recoveries, before what is unsent
        std::deque<std::unique_ptr<Parcel>> unsent;
        std::size_t frames() const noexcept;
    };
    /// Ends the object; what it still held is the caller's. `undelivered` is what waits in it.
    Estate die() PLEXUS_EXCLUDES(mutex_);
    void inherit(Estate estate) PLEXUS_EXCLUDES(mutex_);
    /// The link broke and something is at stake: makes a new one.
    void reconnect() PLEXUS_EXCLUDES(mutex_);
    /// Nobody will get them: their waiters are told `status`.
    static void bury(Estate estate, Status status);
    /// True if it holds frames whose fate is open, or threads wait for it.
    bool has_stake() const PLEXUS_EXCLUDES(mutex_);
    /// True if all that was handed over has left and been confirmed where it has to be.
    bool drained() const PLEXUS_EXCLUDES(mutex_);
    /// Asks the far side to confirm, so that drained() can become true.
    void hurry() PLEXUS_EXCLUDES(mutex_);

    unsigned links_in_vain = 0; ///< that opened and brought nothing, one after the other. @thread progress

  private:
    Status attempt(Frame& frame, Ticket& ticket, bool inside) PLEXUS_REQUIRES(mutex_);
    Status transmit(Frame& frame, Ticket& ticket, bool inside) PLEXUS_REQUIRES(mutex_);
    Status keep_and_transmit(Frame& frame, Ticket& ticket, bool inside) PLEXUS_REQUIRES(mutex_);
    bool transmit_and_keep(const Frame& frame) PLEXUS_REQUIRES(mutex_);
    Status slow_send(Frame& frame, std::string* why) PLEXUS_EXCLUDES(mutex_);
    void introduce(const Frame& frame) PLEXUS_REQUIRES(mutex_);
    bool introduced(const Frame& frame) const PLEXUS_REQUIRES(mutex_);
    Status enqueue(const Frame& frame) PLEXUS_REQUIRES(mutex_);
    void append(std::unique_ptr<Parcel> parcel) PLEXUS_REQUIRES(mutex_);
    void send_line() PLEXUS_REQUIRES(mutex_);
    void send_controls(Connection& connection) PLEXUS_REQUIRES(mutex_);
    void connect() PLEXUS_REQUIRES(mutex_);
    void drop_confirmed() PLEXUS_REQUIRES(mutex_);
    void ask_fence() PLEXUS_REQUIRES(mutex_);
    void take_up_replay() PLEXUS_REQUIRES(mutex_);
    void refresh_ready() PLEXUS_REQUIRES(mutex_);
    bool leads(const Reach& reach) const PLEXUS_REQUIRES(mutex_);
    std::string explain(Status status) const PLEXUS_EXCLUDES(mutex_);
    static void let_go(std::unique_ptr<Parcel> parcel, Status status);
    void recycle(std::unique_ptr<Parcel> parcel) PLEXUS_REQUIRES(mutex_);
    static void parcel_ended(Posted* posted, Status status);

    Peer& peer_;
    Method& method_;
    const std::string name_;
    const std::uint64_t limit_;   ///< bytes of the largest message
    const std::uint64_t at_once_; ///< up to so many bytes no module posts, and nobody borrows

    mutable RankedSpinlock<30> mutex_;
    bool ready_ PLEXUS_GUARDED_BY(mutex_) = false; ///< open and nothing waits before a new frame
    Descriptor row_ PLEXUS_GUARDED_BY(mutex_);     ///< no bytes: the peer came to us, and was not asked yet
    State state_ PLEXUS_GUARDED_BY(mutex_) = State::idle;
    Connection* out_ PLEXUS_GUARDED_BY(mutex_) = nullptr;
    std::uint32_t stream_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::uint64_t sent_ PLEXUS_GUARDED_BY(mutex_) = 0;      ///< counted frames of this stream
    std::uint64_t confirmed_ PLEXUS_GUARDED_BY(mutex_) = 0; ///< of them
    std::vector<bool> declared_ PLEXUS_GUARDED_BY(mutex_);
    std::unordered_set<std::uint64_t> tables_ PLEXUS_GUARDED_BY(mutex_); ///< known over there
    std::string last_error_ PLEXUS_GUARDED_BY(mutex_);
    std::uint32_t waiting_ PLEXUS_GUARDED_BY(mutex_) = 0; ///< threads

    // Frames in order: up to next_ sent and not yet confirmed (fragile methods), then unsent.
    std::deque<std::unique_ptr<Parcel>> line_ PLEXUS_GUARDED_BY(mutex_);
    std::size_t next_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::uint64_t kept_bytes_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::uint64_t queued_bytes_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::vector<std::unique_ptr<Parcel>>
        spare_ PLEXUS_GUARDED_BY(mutex_); ///< of small frames, to be used again
    bool fence_asked_ PLEXUS_GUARDED_BY(mutex_) = false;
    std::list<Recovery> recoveries_ PLEXUS_GUARDED_BY(mutex_);
    std::deque<std::unique_ptr<Parcel>> replay_ PLEXUS_GUARDED_BY(mutex_); ///< of answered recoveries

    std::atomic<bool> dead_{false}; // [dead] set after the rest was put in order
};

} // namespace plexus::comm
