// SPDX-License-Identifier: BSD-3-Clause
// The shm method of one context, as the host sees it.
//
//   Poller                 what a turn does, how the context sleeps
//   Connector, Acceptor    how a link comes about, on either side
//   Links                  how a link opens, ends and is given up
//   Parts                  mailbox, descriptors, and the lists of links
//
// Each knows those below. Everything is @thread progress unless it says otherwise; other threads leave
// orders.
#pragma once

#include "shm/poller.h"

#include <memory>

namespace plexus::shm {

extern const plexus_ops kOps;

class Module {
  public:
    Module(const plexus_host& host, const Options& options)
      : parts_(host, options) {}
    ~Module();
    /// Not OK: the reason is in the log.
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);

    // As in abi.h.
    void close();
    void drain();
    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t poll(std::uint32_t budget) { return poller_.poll(budget); }
    std::int32_t arm(std::uint64_t& sleep_ns) { return poller_.arm(sleep_ns); }
    int wait_fd() const noexcept { return parts_.events.fd(); }
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;

  private:
    std::int32_t open();

    Parts parts_;
    Links links_{parts_};
    Connector connector_{parts_, links_};
    Acceptor acceptor_{parts_, links_};
    Poller poller_{parts_, links_, connector_, acceptor_};
};

} // namespace plexus::shm
