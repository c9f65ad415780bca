// SPDX-License-Identifier: BSD-3-Clause
// What all channels of a context share: its options, its opened modules, its own table, and the
// peers that it knows. Decides which channel serves a row; takes no decision about lost links
// (failover.h) and knows no frame (demux.h).
#pragma once

#include "base/grow_only.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/secret.h"
#include "method/list.h"
#include "method/selection.h"
#include "plexus/pointer.h"
#include "poll/scheduler.h"
#include "transport/interface.h"
#include "transport/memory_regions.h"
#include "transport/peer.h"
#include "transport/pending_frame.h"

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace plexus::transport {

struct Link;

struct EndpointOptions {
    std::uint64_t max_message = 1ull << 30;
    std::uint64_t handler_queue = 64ull << 20;
    std::uint64_t retain = 4ull << 20;
    Fallback fallback = Fallback::allow;
    /// How long a peer that cannot be dialled may take to come back.
    std::chrono::nanoseconds reconnect_timeout = std::chrono::seconds(10);
    /// A peer from which nothing has come for so long, although it was asked, is lost; 0: never.
    std::chrono::nanoseconds silence{0};
    /// A peer without any link is forgotten after so long, if nobody holds a pointer to it.
    std::chrono::nanoseconds forget_after = std::chrono::minutes(1);
    /// How long a method accepts no further link of a peer that it did not believe (check_claim).
    std::chrono::nanoseconds shut_out_for = std::chrono::minutes(1);
    Secret<32> key{}; ///< the job's
    Place place;      ///< where this context is
};

enum class WhichCalls : std::uint8_t {
    all,
    uncertain, ///< those that were named by Listener::calls_uncertain() before
};

/// A peer that is reached through another.
struct CarriedPeer {
    ContextId peer;
    ContextId by;
};

/// What the rooms above want to know. @thread progress
class Listener {
  public:
    virtual ~Listener() = default;
    virtual std::unique_ptr<Attachment> attach(Peer& peer) = 0;
    /// A link to `peer` is open: the first, or another one.
    virtual void peer_arrived(Peer& peer) = 0;
    /// Nothing sent to `peer` will be answered any more.
    virtual void peer_lost(Peer& peer, Status status, const std::string& why) = 0;
    /// True if somebody waits for an answer from it.
    virtual bool awaits(Peer& peer) = 0;
    /// True if somebody waits for the answer to a request that `via` carries.
    virtual bool awaits(const Channel& via) = 0;
    /// The link of `via` broke, and the requests of the calls that went by it may not have arrived.
    virtual void calls_uncertain(Channel& via) = 0;
    /// Fails calls that went by this channel, and no others: their requests will not be sent again.
    virtual void calls_lost(Channel& via, WhichCalls which, Status status, const std::string& why) = 0;
    /// What `from` carried and is not answered yet is carried by `to` from now on.
    virtual void calls_moved(Channel& from, Channel& to) = 0;
    /// Frames that were accepted may not have arrived and will not be sent again: fails the calls
    /// among them, and tells the program how many requests there were. `heads`: their first pieces.
    virtual void frames_lost(Peer& peer, const std::vector<wire::View>& heads, Status status,
                             const std::string& why) = 0;
    /// Peers with links of this context that lead through others.
    virtual std::vector<CarriedPeer> carried_peers() { return {}; }
    /// Its own timed work; how long until the next of it, max(): none.
    virtual std::chrono::nanoseconds deferred_work() = 0;
    /// Tells the program: `what` is peer_lost or peer_back.
    virtual void peer_event(Peer& peer, Status what, const std::string& why) = 0;
    /// Something went wrong that no caller waits for.
    virtual void on_error(Status status, const std::string& what) = 0;
};

/// A channel that has something to tell the leader.
struct Attention {
    std::shared_ptr<Peer> peer; ///< keeps the channel
    Channel* channel;
};

/// Those of a context, each once. @thread any
class AttentionList {
  public:
    void add(Attention attention) PLEXUS_EXCLUDES(mutex_);
    std::vector<Attention> take() PLEXUS_EXCLUDES(mutex_);

  private:
    RankedMutex<35> mutex_;
    std::vector<Attention> entries_ PLEXUS_GUARDED_BY(mutex_);
};

/// Chooses rows for pointers that name no methods and have no policy of their own; empty: the first row that
/// applies is taken. @thread any
class SharedPolicy {
  public:
    Policy get() const PLEXUS_EXCLUDES(mutex_);
    /// Gives the former.
    Policy exchange(Policy policy) PLEXUS_EXCLUDES(mutex_);

  private:
    mutable RankedMutex<18> mutex_;
    Policy policy_ PLEXUS_GUARDED_BY(mutex_);
};

/// A context's own table, which grows with its methods. @thread any
class OwnTable {
  public:
    std::shared_ptr<const KnownTable> get() const PLEXUS_EXCLUDES(mutex_);
    void set(std::shared_ptr<const KnownTable> table) PLEXUS_EXCLUDES(mutex_);
    /// Gives the table that it becomes. `change` may run several times.
    std::shared_ptr<const KnownTable> change(const std::function<void(DescriptorTable&)>& change)
        PLEXUS_EXCLUDES(mutex_);

  private:
    mutable RankedMutex<35> mutex_;
    std::shared_ptr<const KnownTable> table_ PLEXUS_GUARDED_BY(mutex_);
};

class Endpoint {
  public:
    static constexpr std::size_t kMostMethods = 64;

    Endpoint(const ContextId& self, EndpointOptions options, poll::Scheduler& scheduler, Listener& listener);
    ~Endpoint();
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    /// Links of the method may come from now on. At most kMostMethods. @thread one
    void add(std::unique_ptr<Interface> interface);
    /// Builds the own table from what was added: the rows that `order` names, as it orders them. @thread
    /// setup
    void seal_table(const std::vector<method::ListItem>& order);
    /// Changes the own table, for links and pointers that are made from now on. `change` may run several
    /// times. @thread any
    void change_own_table(const std::function<void(DescriptorTable&)>& change);
    /// What routes keep alive: the context that this is part of.
    void set_keeper(std::weak_ptr<detail::Core> keeper) { keeper_ = std::move(keeper); }
    std::shared_ptr<detail::Core> keeper() const noexcept { return keeper_.lock(); }

    const ContextId& self() const noexcept { return self_; }
    const EndpointOptions& options() const noexcept { return options_; }
    poll::Scheduler& scheduler() noexcept { return scheduler_; }
    Listener& listener() noexcept { return listener_; }
    MemoryRegions& regions() noexcept { return regions_; }
    std::shared_ptr<const KnownTable> own_table() const { return own_table_.get(); }
    /// Those that there are now; they stay until the end. @thread any
    std::span<const std::unique_ptr<Interface>> interfaces() const noexcept { return interfaces_.all(); }
    /// By its name, or that of one of its rows. None once the modules are gone.
    Interface* find_interface(std::string_view name) const noexcept;

    /// No new work is accepted. A hint: locks order the rest. @thread any
    bool closing() const noexcept { return phase_.load(std::memory_order_relaxed) != Phase::open; }
    /// The modules are destroyed: pointers outlive their context, and may not ask them. @thread any
    bool closed() const noexcept { return phase_.load(std::memory_order_acquire) == Phase::closed; }
    enum class Phase : std::uint8_t { open, closing, closed };
    void enter(Phase phase) noexcept { phase_.store(phase, std::memory_order_release); }

    /// @thread any
    std::shared_ptr<Peer> peer(const ContextId& id) PLEXUS_EXCLUDES(peers_mutex_);
    std::vector<std::shared_ptr<Peer>> peers() const PLEXUS_EXCLUDES(peers_mutex_);
    /// Forgets a peer if nobody but the caller and its own unused ways holds it. @thread any
    bool forget(const std::shared_ptr<Peer>& peer) PLEXUS_EXCLUDES(peers_mutex_);
    void forget_all() PLEXUS_EXCLUDES(peers_mutex_);

    /// The route that pointers of that table share. @error closed (thrown). @thread any
    std::shared_ptr<detail::Route> way(const std::shared_ptr<Peer>& peer,
                                       const std::shared_ptr<const KnownTable>& table);
    /// Sends by the channel that a request came by, or, if that is dead by now, by any way that
    /// leads to its peer. @thread any
    Status answer(Channel& to, Frame& frame, std::string* why);
    /// The peer waits for answers that do not come, or does not hear that so many of its one-way requests
    /// were refused: it is told of that, now or when the next link opens. @thread any
    void note_dropped(Peer& peer, wire::Dropped what, std::uint64_t count = 1);
    /// The channel for a row's method, with the row's parameters; made on first use.
    Channel& channel(Peer& peer, const Descriptor& row);
    /// The same if there is one already, else null.
    Channel* find_channel(Peer& peer, const Descriptor& row) const;

    SharedPolicy& policy() noexcept { return policy_; }

    /// Said once per context and text, for the first thousand texts.
    void warn_once(const std::string& text) PLEXUS_EXCLUDES(peers_mutex_);
    std::uint32_t next_stream() noexcept { return next_stream_.fetch_add(1, std::memory_order_relaxed); }

    /// A channel has something to tell the leader: its outbox's events(). @thread any
    void attend(Channel& channel);
    std::vector<Attention> take_attention() { return attention_.take(); }

  private:
    const ContextId self_;
    const EndpointOptions options_;
    poll::Scheduler& scheduler_;
    Listener& listener_;
    MemoryRegions regions_;
    GrowOnly<Interface, kMostMethods> interfaces_;
    OwnTable own_table_;
    std::weak_ptr<detail::Core> keeper_;
    std::atomic<Phase> phase_{Phase::open};
    std::atomic<std::uint32_t> next_stream_{1};

    mutable RankedMutex<18> peers_mutex_;
    std::unordered_map<ContextId, std::shared_ptr<Peer>> peers_ PLEXUS_GUARDED_BY(peers_mutex_);
    std::vector<std::string> warned_ PLEXUS_GUARDED_BY(peers_mutex_);
    SharedPolicy policy_;
    AttentionList attention_;
};

} // namespace plexus::transport
