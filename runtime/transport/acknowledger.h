// SPDX-License-Identifier: BSD-3-Clause
// Acknowledges received frames: at once if the sender needs it, otherwise a bounded time after the first
// frame that is not yet acknowledged. @thread progress
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
    /// Part of a message has come whose end may take long: its sender, who waits for nothing else meanwhile,
    /// hears within kDelay that its peer lives.
    void arriving(Link& link);
    void now(Link& link);
    /// The link has ended.
    void forget(Link& link) noexcept;
    /// Acknowledges all pending frames, also those that are not due.
    void all();
    /// Acknowledges what is due. Returns how long until the next acknowledgement is due.
    std::chrono::nanoseconds run();

  private:
    void act(Link& link, ReceiveWindow::Ack due);
    void later(Link& link);

    poll::Scheduler& scheduler_;
    std::vector<Link*> ack_pending_; ///< links with frames, or parts of one, that are not yet acknowledged
    std::chrono::steady_clock::time_point due_{};
};

} // namespace plexus::transport
