// SPDX-License-Identifier: BSD-3-Clause
// Calls by messages, from their beginning to their end: who owns a call executes its operations in order,
// until one has to wait.
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

    /// A call that was parked goes on. @thread its owner
    void advance(Execution& call);
    /// Ends a call of which all operations are done, or that has failed. @thread its owner
    void finish(Execution& call);

  private:
    Execution& begin(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                     Clock::time_point deadline, std::shared_ptr<CompletionState> future = {});
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
