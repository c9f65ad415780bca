// SPDX-License-Identifier: BSD-3-Clause
// Requests of this context to others: the calls that wait for an answer, and what comes back for them.
#pragma once

#include "request/call_endings.h"
#include "request/calls.h"
#include "request/reporter.h"
#include "transport/transport.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace plexus::request {

class Client {
  public:
    /// `most_calls` wait at a time. `call_deadline`: of calls whose pointer has none.
    Client(std::size_t most_calls, Deadline call_deadline, Reporter& reporter)
      : call_deadline_(call_deadline)
      , reporter_(reporter)
      , calls_(most_calls)
      , endings_(calls_) {}

    /// Registers the kinds that it understands. @thread setup
    void serve(transport::Transport& transport);

    Calls& calls() noexcept { return calls_; }
    CallEndings& endings() noexcept { return endings_; }

    /// Grows with each request whose newest wins. @thread any
    std::uint64_t next_number() noexcept { return numbers_.fetch_add(1, std::memory_order_relaxed) + 1; }
    /// What a call's deadline is, in milliseconds; 0: it has none. @thread any
    std::uint32_t limit_of(Deadline wanted) const noexcept {
        const Deadline limit = wanted == Deadline{} ? call_deadline_ : wanted;
        return limit == no_deadline ? 0 : limit.milliseconds;
    }
    /// Ends the call that an answer which could not be taken was for. False: `head` names none.
    /// @thread progress
    bool refuse_reply(transport::Link& from, wire::View head, Status status, const std::string& why);

  private:
    void take_reply(transport::Link& from, wire::View frame);
    void take_report(transport::Link& from, wire::View frame);

    const Deadline call_deadline_;
    Reporter& reporter_;
    Calls calls_;
    CallEndings endings_;
    std::atomic<std::uint64_t> numbers_{0}; // alone is the message
};

} // namespace plexus::request
