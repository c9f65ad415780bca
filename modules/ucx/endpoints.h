// SPDX-License-Identifier: BSD-3-Clause
// The endpoints of one worker by the addresses they lead to: how they are made, how it is noticed that they
// fail or that their owners have gone, and how they are closed. An endpoint is told to have failed after
// what its peer sent before its end. Functions are under the port's lock unless they say otherwise.
#pragma once

#include "ucx/descriptor.h"
#include "ucx/operations.h"

#include <map>

namespace plexus::ucx {

class Endpoints {
  public:
    /// `port`: whose lock this is under. All three outlive this.
    Endpoints(message_link::Port& port, const Library& library, Operations& operations)
      : port_(port)
      , library_(library)
      , operations_(operations) {}

    /// The set of descriptors that show the ends of peers, with `event_fd`. Errno, or 0. @thread setup
    int open(int event_fd);
    int wait_fd() const noexcept { return epoll_.get(); } ///< @thread any

    /// The endpoint that leads from `here` to `target`; made if there is none. Null: `why`.
    /// @thread progress, without the lock
    Endpoint* reach(const Descriptor& target, const Descriptor& here, std::string& why);
    /// Looks whether owners have gone. @thread progress, without the lock
    void look_for_hang_ups();
    /// A link's end over an endpoint is freed. @thread progress, without the lock
    void forget(UcxPeer& peer);

    /// Nothing goes over it any more; its links hear of it by check().
    void fail(Endpoint& endpoint, ucs_status_t status);
    /// The same, and ends what UCX has for it by force.
    void abort(Endpoint& endpoint, ucs_status_t status);
    /// Some endpoint has failed, or its owner has gone, and its links have not heard of it.
    bool needs_check() const noexcept { return any_failed_ || cut_ > 0; }
    /// Ends those whose peers have said all. `asked`: UCX was asked for news; `quiet`: and had none.
    /// @thread progress
    void check(bool asked, bool quiet);
    /// Closes all: the worker is about to end.
    void close_all();
    /// After the worker has ended: what it had is over.
    void orphan_all();

  private:
    void close(Endpoint& endpoint, bool by_force);
    void end(Endpoint& endpoint, const std::string& why);
    void disconnect_liveness(Endpoint& endpoint);

    message_link::Port& port_;
    const Library& library_;
    Operations& operations_;
    UniqueFd epoll_;
    std::map<std::string, std::unique_ptr<Endpoint>> by_address_;
    std::vector<std::unique_ptr<Endpoint>> failed_; // as long as peers name them
    bool any_failed_ = false;                       // of by_address_
    std::size_t cut_ = 0;                           // of by_address_
    std::uint32_t quiet_ = 0;                       // turns without news since one was cut
};

} // namespace plexus::ucx
