// SPDX-License-Identifier: BSD-3-Clause
// Who asks to be connected. A hello of a holder of the job's key becomes a link, which counts as a stranger's
// until its opening is over; so many strangers are let in at a time, and the hellos of others wait.
// @thread progress
#pragma once

#include "message_link/link_table.h"
#include "message_link/timeouts.h"

#include <deque>

namespace plexus::message_link {

class Listener {
  public:
    /// All three outlive this.
    Listener(Engine& engine, LinkTable& links, Timeouts& timeouts)
      : engine_(engine)
      , links_(links)
      , timeouts_(timeouts) {}

    /// A message of Kind::hello has come by `port`.
    void take(Port& port, ByteView hello);
    /// A link that take() made has proved itself, or is lost.
    void opening_is_over() noexcept { --strangers_; }

    /// Some hellos wait until the number of strangers falls.
    bool has_waiting() const noexcept { return !waiting_.empty(); }
    /// Takes those that there is room for, and drops those that have waited for too long; how many.
    std::uint32_t take_waiting(std::uint32_t budget);
    /// take_waiting() has work.
    bool has_room_for_waiting() const noexcept;

  private:
    struct Waiting {
        Port* port;
        Bytes hello;
        Clock::time_point came;
    };

    void turn_away(const std::string& why);

    Engine& engine_;
    LinkTable& links_;
    Timeouts& timeouts_;
    int strangers_ = 0;
    std::deque<Waiting> waiting_; // hellos of members
    Clock::time_point quiet_until_{};
};

} // namespace plexus::message_link
