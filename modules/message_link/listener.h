// SPDX-License-Identifier: BSD-3-Clause
// Who asks to be connected. A hello of a holder of the job's key becomes a link, which counts as a stranger's
// until its opening is over. So many strangers are let in at a time: one of a member that has many of them
// makes room for those of others, and else hellos wait. @thread progress
#pragma once

#include "message_link/link_table.h"
#include "message_link/timeouts.h"
#include "message_link/unproven.h"

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
    void opening_is_over(const Link& link);

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

    /// False: `source` has as many strangers as any other.
    bool make_room(const ConnectionCounts::Source& source);
    void let_wait(const ConnectionCounts::Source& source, Waiting waiting);
    void turn_away(const std::string& why);

    Engine& engine_;
    LinkTable& links_;
    Timeouts& timeouts_;
    Unproven<Link*> strangers_;
    Unproven<Waiting> waiting_; // hellos of members
    Clock::time_point quiet_until_{};
};

} // namespace plexus::message_link
