// SPDX-License-Identifier: BSD-3-Clause
// How long a collective call takes, by the two definitions of TimedBy. All contexts of the job
// take part, also contexts outside the measured group: rank 0 announces when a call begins, and gathers
// when it ended. Main thread.
#pragma once

#include "tools/bench/collective/call.h"
#include "tools/bench/collective/common_clock.h"
#include "tools/bench/collective/options.h"

#include <functional>
#include <optional>

namespace plexus::tools::benchmark {

/// Microseconds.
struct Completion {
    double mean = 0;
    double p50 = 0;
    double min = 0;
    std::uint64_t iterations = 0;
};

struct Measurement {
    const eco::Group& world;
    CommonClock& clock;
    const eco::Group& group; ///< none: this context is not in the group
    CollectiveCall* call;    ///< none as well
    bool waits;              ///< for the start: every member, or the root alone (begins_at_root)
    std::uint64_t iterations;
    std::function<void()> alive; ///< called now and then by rank 0
};

/// The result on rank 0; the results of the other ranks mean nothing.
/// @error timed_out the members cannot be brought to a common start (thrown)
Completion time_by(TimedBy by, const Measurement& measurement);

} // namespace plexus::tools::benchmark
