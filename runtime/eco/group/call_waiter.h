// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits that is blocked in a call, whatever the path of the call: it polls its context, then
// sleeps until it is woken, looks after the member that it waits for, and ends the call at its deadline.
#pragma once

#include "group/call_table.h"
#include "group/membership.h"

namespace plexus::eco::detail {

class FailureDetector;

class CallWaiter {
  public:
    explicit CallWaiter(GroupState& group);

    /// Returns when the call may go on or has failed; may return early. @thread the one that is blocked in it
    void wait(Execution& call);
    /// Waits until `due`, for nothing else. False: the call has failed. @thread as wait()
    bool sleep_until(Execution& call, Clock::time_point due);

  private:
    GroupState& group_;
    const Membership& members_;
    CallTable& calls_;
    FailureDetector& failures_;
};

} // namespace plexus::eco::detail
