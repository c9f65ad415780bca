// SPDX-License-Identifier: BSD-3-Clause
// Hands what a port tells to whom it is for: messages to the link that their header names, hellos to the
// listener, completions and failures to the link of their peer. @thread progress
#pragma once

#include "message_link/link_table.h"
#include "message_link/listener.h"
#include "message_link/pending_links.h"
#include "message_link/timeouts.h"

#include <array>

namespace plexus::message_link {

class EventDispatcher {
  public:
    /// All outlive this.
    EventDispatcher(const plexus_host& host, const LinkTable& links, PendingLinks& pending,
                    Timeouts& timeouts, Listener& listener)
      : host_(host)
      , links_(links)
      , pending_(pending)
      , timeouts_(timeouts)
      , listener_(listener) {}

    /// Polls the port for at most `budget` events; how many there were.
    std::uint32_t poll(Port& port, std::uint32_t budget);

  private:
    static constexpr std::size_t kBatch = 16;

    void take(Port& port, Event& event);
    void receive(Port& port, Message& message);
    void suspect_reads(const Port& port, const std::string& why);

    const plexus_host& host_;
    const LinkTable& links_;
    PendingLinks& pending_;
    Timeouts& timeouts_;
    Listener& listener_;
    std::array<Event, kBatch> events_;
};

} // namespace plexus::message_link
