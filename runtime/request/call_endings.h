// SPDX-License-Identifier: BSD-3-Clause
// How calls of this context end other than by their answer: at a deadline, cancelled, with their peer, or
// when nothing touches the memory of their callers any more. Tells the far side of requests that nobody
// waits for.
#pragma once

#include "request/calls.h"

#include <chrono>
#include <optional>
#include <string>

namespace plexus::transport {
class Endpoint;
}

namespace plexus::request {

class CallEndings {
  public:
    using Clock = Calls::Clock;

    explicit CallEndings(Calls& calls) noexcept
      : calls_(calls) {}
    /// @thread setup
    void serve(transport::Endpoint& endpoint) noexcept { endpoint_ = &endpoint; }

    // @thread any
    /// The call fails with deadline_exceeded after so many milliseconds, unless it ends before; 0: never.
    /// When what is sent for it must have left.
    Clock::time_point limit(std::uint64_t call, std::uint32_t milliseconds);
    /// False: it has ended.
    bool cancel(std::uint64_t call, const transport::Peer* peer);
    /// Ends a call, or notes how it ends; false: there is none.
    bool end(std::uint64_t call, const transport::Peer* peer, Status status, const std::string& why);
    /// Nobody uses the memory of a transfer any more. `by`: the link that placed its answer.
    void let_go(std::uint64_t call, const transport::Peer* peer, std::optional<Calls::Ending> ending = {},
                const transport::Link* by = nullptr);
    /// Of a lost peer. `forced`: nothing moves any more.
    void end_all(const transport::Peer& peer, Status status, const std::string& why, bool forced);
    /// Of a channel whose requests will not be sent again: all of them, or those that Calls::mark_uncertain()
    /// named.
    void end_all_by(const transport::Channel& via, Status status, const std::string& why,
                    bool only_uncertain);

    /// What is due; how long until there is more. @thread progress
    std::chrono::nanoseconds run();

  private:
    std::chrono::nanoseconds end_late_placements(Clock::time_point now);
    void tell_abandoned();

    Calls& calls_;
    transport::Endpoint* endpoint_ = nullptr;
};

} // namespace plexus::request
