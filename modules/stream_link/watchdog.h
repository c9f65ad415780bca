// SPDX-License-Identifier: BSD-3-Clause
// Notices hosts that have gone silent while data was on its way to them. The kernel's keepalive watches
// idle links only, and TCP_USER_TIMEOUT would also end the connection to a live peer that does not
// read for a while. So the watchdog looks itself: only at links that have sent since its last look,
// never at idle links.
#pragma once

#include "base/lock.h"
#include "stream_link/poller.h"

#include <chrono>
#include <vector>

namespace plexus::stream_link {

class Link;

class Watchdog final : public Watched {
  public:
    /// `dead_after` 0: watches nothing.
    Watchdog(Poller& poller, std::chrono::nanoseconds dead_after)
      : Watched(poller)
      , dead_after_(dead_after) {}

    bool on() const noexcept { return dead_after_.count() > 0; }
    /// `link` has sent. Returns true if a turn is needed to begin_watch(). @thread any
    bool add(Link& link);
    /// @thread any
    void remove(Link& link);
    /// Sets a deadline if there are links. @thread progress
    void begin_watch();

    void ready(std::uint32_t, std::uint32_t, std::uint32_t&) override {} // it has no socket
    void expired() override;

  private:
    const std::chrono::nanoseconds dead_after_;
    bool due_ = false; // progress thread: a deadline is set
    Mutex mutex_;
    std::vector<Link*> links_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::stream_link
