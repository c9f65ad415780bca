// SPDX-License-Identifier: BSD-3-Clause
// Two ping-pongs at once between the same two contexts, one over a fast and one over a slow
// method (Nexus, section 3.3, Figures 5 and 6), for each skip_poll of the slow one. Rounds
// of all cases are interleaved; a case's figures are medians over its rounds.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/report.h"

#include <string>
#include <vector>

namespace plexus::tools::bench {

/// For each size: the fast one alone (the slow method is not polled at all), with the slow
/// one polled and silent, then both at each skip_poll.
/// @error bad_config the wish's methods are not two at least (thrown)
std::vector<Row> measure_dual(NearEnd& end);

/// Sentences on what the rows show: whether `auto` lies on the front, and what the slow
/// method costs when it is silent.
std::string judge_dual(const std::vector<Row>& rows);

/// The fixed values that beat `automatic` in both latencies by more than 5 %.
std::vector<const Row*> better_than(const Row& automatic, const std::vector<Row>& rows);

} // namespace plexus::tools::bench
