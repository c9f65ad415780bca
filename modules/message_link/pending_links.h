// SPDX-License-Identifier: BSD-3-Clause
// The links that the turn has to come back to: those with something to send or to fetch, those whose host
// waits for room, and those that end. Who adds a link sees that it is in a list once. @thread progress
#pragma once

#include "message_link/link.h"

#include <vector>

namespace plexus::message_link {

class PendingLinks {
  public:
    /// It has something to send or to fetch (Sender::wants_carrying).
    void add_carrying(Link& link) { carrying_.push_back(&link); }
    /// Its host is to be told when there is room (Sender::want_room()).
    void add_waiting(Link& link) { waiting_.push_back(&link); }
    /// It ends; may be repeated.
    void add_ending(Link& link);
    /// The link is freed.
    void forget(const Link& link);
    void clear();

    bool any() const noexcept { return !carrying_.empty() || !waiting_.empty() || !ending_.empty(); }
    /// Some can't be told of an event: they are asked again after a while.
    bool need_polling() const noexcept { return !carrying_.empty() || !ending_.empty(); }
    /// A link found no room with its library.
    bool are_stalled() const;

    /// Sends and fetches on. How many links went on.
    std::uint32_t carry();
    /// Tells hosts that there is room. `retry`: see Port::has_room(). How many were told.
    std::uint32_t tell_writable(bool retry);
    /// A step towards the end of each link that ends. Those that are to be freed.
    std::vector<Link*> end();

  private:
    std::vector<Link*> carrying_;
    std::vector<Link*> waiting_;
    std::vector<Link*> ending_;
};

} // namespace plexus::message_link
