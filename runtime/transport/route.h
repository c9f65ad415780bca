// SPDX-License-Identifier: BSD-3-Clause
// A pointer's way: its table, its preferences, and the channel that both led to.
// Pointers without preferences of their own share one route for each table.
#pragma once

#include "base/fork.h"
#include "base/mutex.h"
#include "plexus/pointer.h"
#include "transport/channel.h"
#include "transport/datagrams.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace plexus::detail {

class Route {
  public:
    using KnownTable = transport::KnownTable;

    /// `keep` holds the context that `endpoint` belongs to.
    Route(std::shared_ptr<Core> keep, transport::Endpoint& endpoint, std::shared_ptr<transport::Peer> peer,
          std::shared_ptr<const KnownTable> table);
    /// A copy with the same preferences, to be changed.
    Route(const Route& other);
    Route& operator=(const Route&) = delete;

    const ContextId& context() const noexcept { return peer_->id; }
    transport::Peer& peer() const noexcept { return *peer_; }
    transport::Endpoint& endpoint() const noexcept { return endpoint_; }
    const std::shared_ptr<Core>& core() const noexcept { return core_; }
    const std::shared_ptr<const KnownTable>& known_table() const noexcept { return table_; }

    /// The channel to send by; chosen on first use and when the last one is dead. Null: none,
    /// `status` and `why` say more. `unheard`: the pointer's boundary that the peer was chosen by before the
    /// peer itself had said where it is (Frame::within); else left as it is. @thread any
    transport::Channel* resolve(Status& status, std::string* why, method::Boundary& unheard);
    /// The channel in use, which may be dead, for frames that may leave at once; null: none was chosen
    /// yet, or this pointer's frames need care (they may not move to another method). @thread any
    transport::Channel* current() const noexcept {
        return birth_.left() ? nullptr : fast_.load(std::memory_order_acquire); // pairs with [way]
    }
    /// Sends, choosing anew as long as ways break. @thread any
    Status send(transport::Frame& frame, std::string* why);
    /// Sends what may be lost: by a method that loses messages if one has reached the peer, and else, and
    /// while the peer may not know the request's number, by send(). @error too_large. @thread any
    Status send_unreliable(transport::Frame& frame, std::uint16_t request, std::string* why);
    /// True if frames of this pointer must not move to another method: falling back is forbidden, or the
    /// pointer asks for narrower boundaries than the file. @thread any
    bool stays() const PLEXUS_EXCLUDES(mutex_);
    /// That frames left by last; null: none did. @thread any
    transport::Channel* last_channel() const PLEXUS_EXCLUDES(mutex_);

    // Preferences. @thread any, one at a time
    void set_table(DescriptorTable table);
    void pin(const std::vector<method::ListItem>& list);
    void prescribe(const std::vector<method::ListItem>& list);
    void set_policy(Policy policy);
    void set_automatic();
    void set_fallback(Fallback fallback);
    /// What the context's policy says may be another row now. @thread any
    void choose_again() { change(); }

    /// `closed` in a process that was forked from the context's own, else ok. @thread any
    Status refuse_forked(std::string* why) const;
    std::string method();
    Choice choose() const;
    std::vector<RowFacts> facts() const;

  private:
    bool needs_care() const noexcept PLEXUS_REQUIRES(mutex_) {
        return fallback_ == Fallback::forbid || asked_.bounded;
    }
    transport::Channel* select(Status& status, std::string* why, method::Boundary& unheard);
    bool may_use(const transport::Channel& channel) const;
    void change();
    /// @error no_method the pointer has none of the list's methods; bad_config it asks for a wider boundary
    /// than the pointer prescribes (thrown)
    DescriptorTable named(const std::vector<method::ListItem>& list) const;
    std::optional<Descriptor> choose_row(Choice& choice, bool& preferred) const;
    Status peer_end(std::string* why);
    transport::Datagrams* choose_datagrams();

    const BirthProcess birth_; ///< a forked child must not touch the links
    const std::shared_ptr<Core> core_;
    transport::Endpoint& endpoint_;
    const std::shared_ptr<transport::Peer> peer_;
    std::shared_ptr<const KnownTable> table_; ///< as it travels

    // [way] stored after the channel was made; whoever loads it may use the channel.
    std::atomic<transport::Channel*> channel_{nullptr};
    std::atomic<transport::Channel*> fast_{nullptr}; ///< the same, or null: see current()
    /// By which requests that may be lost go; null: none was chosen. Modules outlive routes' use of them.
    std::atomic<transport::Datagrams*> datagrams_{nullptr};
    mutable RankedMutex<14> mutex_;
    transport::Channel*
        former_ PLEXUS_GUARDED_BY(mutex_) = nullptr; ///< must settle before the new one is used
    DescriptorTable rows_ PLEXUS_GUARDED_BY(mutex_); ///< what is chosen from: with parameters
    struct Asked {
        bool bounded = false; ///< a row of them has a boundary of this pointer's own
        bool pinned = false;  ///< the program named the methods
    } asked_ PLEXUS_GUARDED_BY(mutex_);
    Policy policy_ PLEXUS_GUARDED_BY(mutex_);
    std::optional<Fallback> fallback_ PLEXUS_GUARDED_BY(mutex_);
    std::uint64_t
        changes_ PLEXUS_GUARDED_BY(mutex_) = 0; ///< of preferences, so that no older choice takes effect
};

/// From now on the policy chooses for all routes without preferences of their own, of ways in use anew.
/// @thread any
void use_policy(transport::Endpoint& endpoint, Policy policy);

} // namespace plexus::detail
