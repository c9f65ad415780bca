// SPDX-License-Identifier: BSD-3-Clause
// Events of completions that were read from the queue and that poll() has yet to tell the engine, in their
// order. Not thread-safe: under the endpoint's lock.
#pragma once

#include "message_link/port.h"

#include <vector>

namespace plexus::libfabric {

class PendingEvents {
  public:
    bool is_empty() const noexcept { return events_.empty(); }
    void add(message_link::Event&& event) { events_.push_back(std::move(event)); }
    /// Moves the first ones out, at most `most`; how many.
    std::size_t take(message_link::Event* out, std::size_t most);
    /// How many tell that a fetch over this peer has ended.
    std::size_t fetched_over(const message_link::Peer& peer) const;
    /// No event names that peer any more.
    void forget(const message_link::Peer& peer);
    /// No event names any peer, except the events of messages that have arrived.
    void keep_arrivals();

  private:
    std::vector<message_link::Event> events_;
};

} // namespace plexus::libfabric
