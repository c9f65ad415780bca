// SPDX-License-Identifier: BSD-3-Clause
// What happens when a link breaks: the same method anew, then the next row that applies, then
// the peer is lost. Frames that were accepted move along. Gathers the facts and carries out what
// failover_decision.h decides. Asks and tells channels; they never call back. @thread progress
#pragma once

#include "transport/acknowledger.h"
#include "transport/channel.h"
#include "transport/failover_decision.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace plexus::transport {

/// The row of a peer's table that would take over from a channel, and why not another.
struct OtherRow {
    std::shared_ptr<const KnownTable> known; ///< null: no table is known
    Choice choice;
    Channel* linked = nullptr; ///< of the peer, with a link; null: there is none
};

class Failover {
  public:
    Failover(Endpoint& endpoint, Acknowledger& acks)
      : endpoint_(endpoint)
      , acks_(acks) {}

    /// A peer has connected to this context. Sets the cookie of the link, or says why it is not wanted.
    int32_t accepted(Interface& interface, plexus_link* handle, const ContextId& who, void** cookie);
    /// A link that this context has dialled is open.
    void opened(Link& link);
    /// A module says that a link broke.
    void lost(Link& link, Status status, const std::string& why);
    /// The peer has said where it is: links of methods that do not reach so far end, with a line of the log.
    void placed(Peer& peer);
    /// The peer broke the rules on a link, or is beyond its boundary (no_method): the method is not used for
    /// that peer any more.
    void reject(Link& link, const std::string& why, Status status = Status::link_lost);
    /// The link is of no use any more. Not from a callback about that link: the module has let go
    /// of all its placements when this returns.
    void end(Link& link, const std::string& why);
    /// The peer has said goodbye on a link.
    void goodbye(Link& link);

    /// Deferred work; how long until there is more.
    std::chrono::nanoseconds run();
    /// Acknowledges what was delivered, then says goodbye on every link, but to peers that carry links to
    /// others: to these after the goodbyes on those links have left, in a further call. True: all are said.
    /// No link is made any more.
    bool say_goodbyes(bool at_once);
    bool said_goodbye() const noexcept { return said_goodbye_; }
    /// Ends all channels of a peer: the context closes.
    void abandon_all(Peer& peer);
    /// Forgets all deferred work: the links are no more. @thread setup
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    void arrived(Link& link);
    bool mark_lost(Link& link);
    bool is_reached(const Peer& peer) const;
    void replace(Channel& channel, BreakFacts facts, const std::string& why);
    void carry_out(const Decision& decision, Channel& channel, const OtherRow& other, const std::string& why);
    void move(Channel& from, Channel& to, const std::string& why);
    void give_up(Channel& channel, Status end, const std::string& why);
    void await(Channel& channel, const std::string& why);
    void peer_closed(const std::shared_ptr<Peer>& peer);
    void attend();
    void release_lost();
    void return_to_module(Link& link);
    bool in_use(Peer& peer) const;
    std::chrono::nanoseconds retry_links(Clock::time_point now);
    std::chrono::nanoseconds check_awaited(Clock::time_point now);
    std::chrono::nanoseconds check_ended(Clock::time_point now);
    std::chrono::nanoseconds check_silence(Clock::time_point now);
    std::chrono::nanoseconds forget_idle(Clock::time_point now);

    struct Timed {
        Clock::time_point when;
        std::shared_ptr<Peer> peer; ///< keeps the channel
        Channel* channel;           ///< null: of all
        std::string why;
    };
    /// A peer that may come back by itself; it is dialled as well, ever more slowly, if that can be.
    struct Awaited {
        Clock::time_point until;
        std::shared_ptr<Peer> peer; ///< keeps the channel
        Channel* channel;
        std::string why;
        Clock::time_point next_dial;
        std::chrono::nanoseconds pause;
    };

    Endpoint& endpoint_;
    Acknowledger& acks_;
    bool said_goodbye_ = false;
    std::vector<ContextId> told_; ///< peers on whose links the goodbye was said
    std::vector<Link*> lost_;     ///< to be freed when no callback about them runs
    std::vector<Timed> retries_;  ///< links to be made
    std::vector<Timed> flushes_;  ///< frames that found no memory in a module
    std::vector<Awaited> awaited_;
    std::vector<Timed> ended_; ///< peers whose processes have ended: what links they have are ended
    std::vector<std::shared_ptr<Peer>> leaving_; ///< to be forgotten when nobody holds them
    bool idle_seen_ = false;                     ///< some peer has no link
    Clock::time_point next_silence_{};
    Clock::time_point next_forget_{};
};

} // namespace plexus::transport
