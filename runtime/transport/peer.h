// SPDX-License-Identifier: BSD-3-Clause
// Another context, as this one knows it: its tables, the channels to it, and how far its
// streams were delivered.
#pragma once

#include "base/mutex.h"
#include "plexus/id.h"
#include "plexus/status.h"
#include "plexus/table.h"
#include "transport/dropped_counts.h"
#include "transport/peer_account.h"
#include "transport/receive_window.h"
#include "wire/bytes.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plexus::detail {
class Route;
}

namespace plexus::transport {

class Channel;
struct Interface;

/// True if the names of two ends' rows allow a link between them: a context that has but one way by
/// a method gives it no label.
constexpr bool share_rows(std::string_view one, std::string_view other) noexcept {
    return means_row(one, other) || means_row(other, one);
}

/// The first eight digits of a context's id, for texts.
std::string short_text(const ContextId& id);

/// A table and its bytes; shared by every pointer that has it.
struct KnownTable {
    DescriptorTable table;
    wire::Bytes encoded;
    std::uint64_t hash = 0;

    static std::shared_ptr<const KnownTable> make(DescriptorTable table);
};

/// What a higher room keeps of each peer.
class Attachment {
  public:
    virtual ~Attachment() = default;
};

enum class Presence : std::uint8_t {
    unknown, ///< nobody has tried
    here,    ///< a link to it is or was open
    lost,    ///< no row of its table reached it
    gone,    ///< it has said goodbye
};
/// Nothing is sent to such a peer any more, or until it comes back.
constexpr bool is_away(Presence presence) noexcept {
    return presence == Presence::lost || presence == Presence::gone;
}

/// The verdict about a peer. Guarded by the peer's mutex.
struct PeerState {
    Presence presence = Presence::unknown;
    Status status = Status::ok; ///< lost or gone: what calls end with
    std::string why;
    std::chrono::steady_clock::time_point since{}; ///< it is lost
    bool ended = false; ///< a module knows that its process has ended: it will not come back
    /// Rows that were tried and did not reach it, with the reason; forgotten on success.
    std::map<std::string, std::string> failed;

    void forget_failure(std::string_view row) {
        std::erase_if(failed, [&](const auto& each) { return share_rows(each.first, row); });
    }
};

/// The tables of one context that pointers name by their hash. Guarded by the peer's mutex.
class KnownTables {
  public:
    /// Tables that no link and no pointer holds: of more than so many the oldest are forgotten.
    static constexpr std::size_t kMostUnused = 64;

    std::shared_ptr<const KnownTable> find(std::uint64_t hash) const;
    /// The owner's own (or, before that is known, any) is what is used to reach the peer unasked.
    void learn(const std::shared_ptr<const KnownTable>& table, bool owners);
    const std::shared_ptr<const KnownTable>& owners() const noexcept { return owners_; }
    /// The owner's own, once the owner itself has told it; null before.
    std::shared_ptr<const KnownTable> said() const noexcept { return owner_said_ ? owners_ : nullptr; }

  private:
    std::deque<std::shared_ptr<const KnownTable>> tables_; ///< the oldest first
    std::shared_ptr<const KnownTable> owners_;
    bool owner_said_ = false;
};

/// What this context remembers of its relation to a peer. The leader's own.
struct Relation {
    std::uint64_t memory =
        0; ///< names what this context remembers of the peer; another after it was forgotten
    std::uint64_t their_drops = 0;           ///< answers to us that the peer has dropped, as it said last
    std::uint64_t their_dropped_reports = 0; ///< the same of reports on one-way requests
    PastStreams past;
    /// Interfaces whose module has refused what the peer says of itself (check_claim), and until when they
    /// accept no further link of the peer.
    std::map<const Interface*, std::chrono::steady_clock::time_point> shut_out;
    std::chrono::steady_clock::time_point
        idle_since{}; ///< without any link since; see Failover::forget_idle()
};

class Peer : public std::enable_shared_from_this<Peer> {
  public:
    explicit Peer(const ContextId& the_id);
    ~Peer();

    const ContextId id;
    const std::string short_id; ///< short_text() of the id
    /// Its key `name`; empty if it has not said one, or has none. @thread any
    std::string name() const;
    /// The first name that it says stays. @thread progress
    void learn_name(std::string_view name);
    /// "context 0123abcd (ocean)", for texts. @thread any
    std::string text() const;

    /// The table of that hash, if it is known. @thread any
    std::shared_ptr<const KnownTable> find_table(std::uint64_t hash) const PLEXUS_EXCLUDES(mutex);
    /// @thread any
    void learn(const std::shared_ptr<const KnownTable>& table, bool owners) PLEXUS_EXCLUDES(mutex);
    std::shared_ptr<const KnownTable> owners_table() const PLEXUS_EXCLUDES(mutex);
    /// What its own hello brought; null: none has come yet.
    std::shared_ptr<const KnownTable> said_table() const PLEXUS_EXCLUDES(mutex);
    /// Those that are alive, dead ones too; they live as long as the peer. @thread any
    std::vector<Channel*> all_channels() const PLEXUS_EXCLUDES(mutex);
    /// One that is not dead, or null; it lives as long as the peer. @thread any
    Channel* live_channel() const PLEXUS_EXCLUDES(mutex);
    Presence presence() const PLEXUS_EXCLUDES(mutex);

    PeerAccount account; ///< of what this context holds for the peer; before the channels, which charge it
    mutable RankedMutex<20> mutex;
    PeerState state PLEXUS_GUARDED_BY(mutex);
    KnownTables tables PLEXUS_GUARDED_BY(mutex);
    std::vector<std::unique_ptr<Channel>> channels PLEXUS_GUARDED_BY(mutex);
    /// The way that pointers take which have no preferences of their own, one for each table.
    std::map<std::uint64_t, std::shared_ptr<detail::Route>> ways PLEXUS_GUARDED_BY(mutex);

    /// The largest message that the peer takes, in bytes; 0: it has not said so yet. @thread any
    std::atomic<std::uint64_t> max_message{0}; // alone is the message
    DroppedCounts dropped;                     ///< of answers and reports to the peer
    Relation relation;
    std::unique_ptr<Attachment> attachment; ///< set before the peer is found by others

  private:
    // [name] set once, by the leader, and never changed: whoever sees it may read it.
    std::atomic<const std::string*> name_{nullptr};
    std::unique_ptr<const std::string> owned_name_;
};

} // namespace plexus::transport
