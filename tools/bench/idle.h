// SPDX-License-Identifier: BSD-3-Clause
// What idle methods cost: a ping-pong by one method while all other methods are polled, and the same
// ping-pong while they are not (Nexus, section 3.3). Both are measured in turns of a few milliseconds,
// so that changes of the machine's speed affect both.
#pragma once

#include "tools/benchmark/initiator.h"

#include <string>
#include <vector>

namespace plexus::tools::benchmark {

/// For each size a row "alone" and a row "silent". The fast method is the first of the options' methods, or
/// what selection finds. @error bad_config nothing else is loaded (thrown)
std::vector<Row> measure_idle(Initiator& end);

/// A sentence for each size, and for each other method what a poll costs and how often it is polled.
std::string judge_idle(const std::vector<Row>& rows, const std::vector<LaneReport>& lanes);

} // namespace plexus::tools::benchmark
