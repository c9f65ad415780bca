// SPDX-License-Identifier: BSD-3-Clause
// Waits that end because somebody was woken. A thread that nobody wakes looks at its condition once more at
// its deadline: that the condition held then shows nothing.
#pragma once

#include "poll/scheduler.h"
#include "support/eventually.h"

namespace plexus::testing {

/// True if the condition came to hold well before the deadline.
template <class Holds>
bool in_time(poll::Scheduler& scheduler, Holds holds) {
    const auto deadline = poll::Scheduler::Clock::now() + 20s * kPatience;
    return scheduler.wait_for_true(holds, deadline) && poll::Scheduler::Clock::now() < deadline;
}

} // namespace plexus::testing
