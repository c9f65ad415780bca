// SPDX-License-Identifier: BSD-3-Clause
// The operations that UCX has for the peers, from their start to their completion, and the events that the
// engine is still to hear: completions, and the ends of links. An operation belongs to its peer until UCX
// completes it, or until nobody waits for it any more and it is an orphan, which UCX still holds. Under the
// port's lock.
#pragma once

#include "ucx/endpoint.h"
#include "ucx/library.h"

namespace plexus::ucx {

class Operations {
  public:
    /// `port`: whose waker hears that there are events. It and `library` outlive this.
    Operations(message_link::Port& port, const Library& library, std::size_t eager)
      : port_(port)
      , library_(library)
      , pool_(eager) {}

    /// For the caller to fill in, and then to begin() or give_back().
    Op& take(UcxPeer& peer, Op::What what, std::size_t bytes);
    /// UCX has it: complete() will come.
    void begin(Op& op);
    /// UCX is through with it at once, or did not take it.
    void give_back(Op& op) { pool_.give_back(op); }
    /// UCX is through with one that has begun.
    void complete(Op& op, bool failed);

    /// UCX keeps the peer's operations of this kind, but nobody waits for them any more; `told`: the engine
    /// hears that they failed.
    void orphan(UcxPeer& peer, Op::What what, bool told);
    void orphan_all(UcxPeer& peer);
    /// UCX has closed: no orphan will complete.
    void free_orphans();
    /// Some of those that are not orphans are not complete.
    bool are_awaited() const noexcept { return pool_.taken() > orphans_.size(); }

    /// The engine is to hear that the peer's link is broken.
    void tell_broken(UcxPeer& peer, const std::string& why);
    bool has_events() const noexcept { return !events_.empty(); }
    /// The oldest events, at most `most`. How many there were.
    std::size_t take_events(message_link::Event* out, std::size_t most);
    /// The peer is freed: nothing names it any more.
    void forget(UcxPeer& peer);

  private:
    void tell(const Op& op, UcxPeer& peer, bool failed);

    message_link::Port& port_;
    const Library& library_;
    OpPool pool_;
    std::vector<message_link::Event> events_;
    std::vector<Op*> orphans_; // UCX may never be through with them
};

} // namespace plexus::ucx
