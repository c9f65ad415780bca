// SPDX-License-Identifier: BSD-3-Clause
// The links of a method that loses messages. What leaves by them is not numbered, kept or sent again, and
// nothing waits: a message without room is dropped. Decides when a peer is dialled, and whether it may know
// a request's number yet. Names of requests, tables and boundaries come by other methods, before any link
// here is used.
#pragma once

#include "base/mutex.h"
#include "plexus/id.h"
#include "plexus/table.h"
#include "transport/frame.h"
#include "transport/interface.h"
#include "transport/peer.h"

#include <chrono>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plexus::transport {

class Datagrams;

/// The cookie of every callback about such a link. Freed by the progress thread.
struct DatagramLink {
    Datagrams& owner;
    const std::shared_ptr<Peer>
        peer; ///< not forgotten as long as the link lives: numbers of requests are the peer's
    plexus_link* handle = nullptr;
    const bool dialed;
    bool open = false; ///< guarded by the owner's lock
};

class Datagrams {
  public:
    explicit Datagrams(Interface& interface) noexcept
      : interface_(interface) {}

    /// Ok: it has left, or was dropped for lack of room. Link_lost: it can't go this way now, and a dial may
    /// have begun; or it is more than the path carries. Not_found: nobody has dialled, or that was forgotten.
    /// @error too_large it is more than the method carries by any path. @thread any
    Status send(Peer& peer, std::uint16_t request, const Frame& frame, std::string* why)
        PLEXUS_EXCLUDES(mutex_);
    /// The number of that request was told to the peer by another method. @thread any
    void introduced(const Peer& peer, std::uint16_t request) PLEXUS_EXCLUDES(mutex_);
    /// Dials by this row unless there is a link, or there was a vain attempt a moment ago. @thread any
    void dial(Peer& peer, const Descriptor& row) PLEXUS_EXCLUDES(mutex_);

    // As the functions of plexus_host say. @thread progress
    int32_t accepted(plexus_link* handle, const ContextId& who, void** cookie) PLEXUS_EXCLUDES(mutex_);
    void opened(DatagramLink& link) PLEXUS_EXCLUDES(mutex_);
    void deliver(DatagramLink& link, wire::View message);
    void lost(DatagramLink& link, std::string_view why) PLEXUS_EXCLUDES(mutex_);

    /// Gives all links back, and makes none any more. @thread setup
    void abandon() PLEXUS_EXCLUDES(mutex_);

    const Host& calls() const noexcept { return interface_.calls; }

  private:
    using Clock = std::chrono::steady_clock;
    /// What leads to one peer.
    struct Way {
        Descriptor row;                                   ///< to dial by; no bytes: not known
        std::vector<std::unique_ptr<DatagramLink>> links; ///< both may have dialled at the same time
        std::vector<bool> introduced;                     ///< by the numbers of requests
        Clock::time_point not_before{};                   ///< when the next dial may begin
        Clock::duration pause{};                          ///< after the next vain dial
    };
    void begin_dial(Way& way, Peer& peer) PLEXUS_REQUIRES(mutex_);
    static DatagramLink* open_link(const Way& way) noexcept;

    Interface& interface_;
    RankedMutex<34> mutex_;
    std::unordered_map<ContextId, Way> ways_ PLEXUS_GUARDED_BY(mutex_);
    bool over_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::transport
