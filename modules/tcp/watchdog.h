// SPDX-License-Identifier: BSD-3-Clause
// Notices hosts that have gone silent while something was on its way to them. The kernel's
// keepalive watches links on which nothing is; its TCP_USER_TIMEOUT would also cut off a
// peer that is alive but does not read for a while, so this looks for itself: only at
// links that have sent since it last looked, and never at idle ones.
#pragma once

#include "common/mutex.h"
#include "tcp/poller.h"

#include <atomic>
#include <chrono>
#include <vector>

namespace plexus::tcp {

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
    /// Sees to it that there is a deadline if there are links. @thread progress
    void begin_watch();

    void ready(std::uint32_t, std::uint32_t, std::uint32_t&) override {} // it has no socket
    void expired() override;

  private:
    const std::chrono::nanoseconds dead_after_;
    bool due_ = false; // progress thread: a deadline is set
    module::Mutex mutex_;
    std::vector<Link*> links_ PLEXUS_MODULE_GUARDED_BY(mutex_);
};

} // namespace plexus::tcp
