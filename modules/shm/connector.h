// SPDX-License-Identifier: BSD-3-Clause
// The side of a link that connects, from connect() until the link is open. @thread progress
#pragma once

#include "shm/links.h"

namespace plexus::shm {

class Connector {
  public:
    Connector(Parts& parts, Links& links)
      : parts_(parts)
      , links_(links) {}

    /// The host has made a link by connect().
    void begin(Link& link);
    /// The peer has said something, or it is time to call it again.
    void step(Link& link);
    void check_time(Clock::time_point now);
    bool is_busy() const noexcept { return !links_.openings().empty(); }
    /// How long nothing is due, if nothing comes over a socket. Empty: for ever.
    std::optional<std::chrono::nanoseconds> sleep_limit(Clock::time_point now) const;

  private:
    std::unique_ptr<Opening> opening_of(const Link& link, Clock::time_point until) const;
    bool make_segment(Link& link);
    void finish(Link& link);

    Parts& parts_;
    Links& links_;
};

} // namespace plexus::shm
