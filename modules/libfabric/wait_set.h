// SPDX-License-Identifier: BSD-3-Clause
// What the progress thread sleeps on: one descriptor that is readable when a peer of this host rings, when
// the provider has completions (if it has a descriptor of its own), and when the process of a peer that is
// watched ends. Other processes see on the own page whether this one sleeps.
//
// Progress thread only, unless it says otherwise; no lock.
#pragma once

#include "base/unique_fd.h"
#include "libfabric/page.h"

#include <memory>
#include <span>

namespace plexus::libfabric {

class FabricPeer;

class WaitSet {
  public:
    explicit WaitSet(std::shared_ptr<Page> page);

    /// `queue_fd`: the provider's; -1: it has none. False: no descriptor can be made. @thread setup
    bool open(int queue_fd);
    int fd() const noexcept { return epoll_.get(); } ///< @thread any

    /// From here to unwatch() look() tells the end of the peer's process, once, if the process can be
    /// watched.
    void watch(FabricPeer& peer);
    void unwatch(const FabricPeer& peer);

    /// Peers ring from here on. Before the owner looks for work for the last time, until look().
    void announce_sleep();
    /// Takes back the announcement and what was rung. Fills in peers whose processes have ended; how many.
    /// What finds no room is told the next time.
    std::size_t look(std::span<FabricPeer*> ended);

  private:
    const std::shared_ptr<Page> page_;
    UniqueFd epoll_; // data.ptr: a peer; null: the ring, or the provider
    bool announced_ = false;
};

} // namespace plexus::libfabric
