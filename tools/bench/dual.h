// SPDX-License-Identifier: BSD-3-Clause
// Two ping-pongs at once between the same two contexts, by a fast and by a slow method (Nexus,
// section 3.3, Figures 5 and 6), for each skip_poll of the slow method. Rounds of all cases are
// interleaved; a case's figures are medians over its rounds.
#pragma once

#include "tools/benchmark/initiator.h"

#include <string>
#include <vector>

namespace plexus::tools::benchmark {

/// For each size: the fast method alone (the slow method is not polled at all), then with the slow method
/// polled and silent, then both at each skip_poll.
/// @error bad_config fewer than two methods are given (thrown)
std::vector<Row> measure_dual(Initiator& end);

/// Sentences about the rows: whether a fixed skip_poll beats `auto`, and what the slow method costs while it
/// is silent.
std::string judge_dual(const std::vector<Row>& rows);

/// The fixed values that beat `automatic` in both latencies by more than 5 %.
std::vector<const Row*> better_than(const Row& automatic, const std::vector<Row>& rows);

} // namespace plexus::tools::benchmark
