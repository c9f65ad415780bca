// SPDX-License-Identifier: BSD-3-Clause
// Tells senders how much has arrived: at once if they need it, or some time after the first
// frame that they were not told of. @thread progress
#pragma once

#include "poll/scheduler.h"
#include "transport/link.h"

#include <chrono>
#include <vector>

namespace plexus::transport {

class Acknowledger {
  public:
    /// The longest that an acknowledgement waits.
    static constexpr auto kDelay = std::chrono::milliseconds(50);

    explicit Acknowledger(poll::Scheduler& scheduler) noexcept
      : scheduler_(scheduler) {}

    /// A frame was delivered on a link.
    void delivered(Link& link, std::uint64_t bytes, bool at_once) {
        const ReceiveWindow::Ack due = link.received.delivered(bytes, at_once);
        if (due != ReceiveWindow::Ack::none) [[unlikely]]
            act(link, due);
    }
    void now(Link& link);
    /// The link is over.
    void forget(Link& link) noexcept;
    /// Acknowledges whatever is owed, also before its time.
    void all();
    /// Acknowledges what is due; how long until something is.
    std::chrono::nanoseconds run();

  private:
    void act(Link& link, ReceiveWindow::Ack due);

    poll::Scheduler& scheduler_;
    std::vector<Link*> owing_;
    std::chrono::steady_clock::time_point due_{};
};

} // namespace plexus::transport
