// SPDX-License-Identifier: BSD-3-Clause
// What a turn of a context does for its shm links, and how the context sleeps. @thread progress
//
// Cost of a poll: the few hot links' next lines, one word of the mailbox, one flag. The kernel is asked for
// callers and deaths every 100 us or so, and after each sleep.
//
// Shares. Each hot link has the whole budget of a poll to itself; the others together have one more, handed
// out in turn; each stream and each copy goes on by a megabyte; 16 callers are let in at a time. So no link
// takes the time of another, of callers, or of what is timed.
#pragma once

#include "shm/acceptor.h"
#include "shm/connector.h"

namespace plexus::shm {

class Poller {
  public:
    /// The mailbox' eventfd in the set of descriptors.
    static constexpr std::uint64_t kEventTag = 0;

    Poller(Parts& parts, Links& links, Connector& connector, Acceptor& acceptor)
      : parts_(parts)
      , links_(links)
      , connector_(connector)
      , acceptor_(acceptor) {}

    // As in abi.h.
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);

    /// Does what other threads have ordered. How many orders that were.
    std::uint32_t take_orders();

  private:
    std::uint32_t serve(Link& link, std::uint32_t budget);
    void hold_up(Link& link);
    std::uint32_t answer_doorbells(std::uint32_t budget);
    std::uint32_t tend_busy();
    bool tend(Link& link, std::uint32_t& handled);
    bool has_news() const;
    void wake_up();
    void look_around(bool at_once);
    void take_events();
    void take_event(std::uint64_t tag);
    void check_time(Clock::time_point now);

    Parts& parts_;
    Links& links_;
    Connector& connector_;
    Acceptor& acceptor_;
    std::uint32_t first_bit_ = 0; // the one that the next turn begins with
    std::int32_t until_look_ = 1; // see look_around()
    bool armed_ = false;
    Clock::time_point last_look_{};
    Clock::time_point last_heat_{};
    Clock::time_point last_idle_{};
};

} // namespace plexus::shm
