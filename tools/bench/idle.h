// SPDX-License-Identifier: BSD-3-Clause
// What methods cost that have nothing to do: a ping-pong by one method while all the others
// are polled, beside the same one while they are not (Nexus, section 3.3). Both are taken in
// turns of a few milliseconds, so that a machine that changes its speed changes both.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/report.h"

#include <string>
#include <vector>

namespace plexus::tools::bench {

/// For each size a row "alone" and a row "silent". The fast method is the first of the wish's,
/// or what selection finds. @error bad_config nothing else is loaded (thrown)
std::vector<Row> measure_idle(NearEnd& end);

/// A sentence for each size, and what a poll of each of the others costs and how often it is made.
std::string judge_idle(const std::vector<Row>& rows, const std::vector<LaneReport>& lanes);

} // namespace plexus::tools::bench
