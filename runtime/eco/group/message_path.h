// SPDX-License-Identifier: BSD-3-Clause
// Calls by messages, from their beginning to their end: operations, arrivals, waiting.
#pragma once

#include "group/call_table.h"
#include "group/membership.h"

namespace plexus::eco::detail {

class FailureDetector;

class MessagePath {
  public:
    explicit MessagePath(GroupState& group);

    /// Executes a call on this thread. @thread any, in no inline handler @error as GroupState::run() (thrown)
    void run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
             Clock::time_point deadline);
    /// As GroupState::start().
    Future<void> start(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                       Clock::time_point deadline, std::shared_ptr<plexus::detail::CallState>* state);

    /// Does what a message that arrived demands. @thread any, under no lock
    void act(Consequence what);
    /// Ends a call of which all operations are done, or that has failed. @thread its owner
    void finish(Execution& call);

    // For other paths, on the thread that is blocked in the call.

    /// Enters a call, and does what the messages demand that came before it.
    Execution& enter(std::unique_ptr<Execution> fresh);
    /// Returns when the call may go on or has failed; may return early.
    void wait(Execution& call);
    /// False: the call has failed.
    bool sleep_until(Execution& call, Clock::time_point due);

  private:
    Execution& begin(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                     Clock::time_point deadline, std::shared_ptr<CompletionState> future = {});
    void advance(Execution& call);
    bool send(Execution& call, const ScheduleOp& op);
    bool take(Execution& call, const ScheduleOp& op);
    bool hold_back(Execution& call, const ScheduleOp& op);
    void retry_later(Execution& call);

    GroupState& group_;
    const Membership& members_;
    CallTable& calls_;
    FailureDetector& failures_;
};

} // namespace plexus::eco::detail
