// SPDX-License-Identifier: BSD-3-Clause
// Rank 0's second part: asks the stations to measure the pairs one after the other, and makes the map of
// the results. Runs on a thread of its own that never makes progress: the main thread does, and may be
// measuring itself.
#pragma once

#include "tools/benchmark/progress.h"
#include "tools/probe/members.h"
#include "tools/probe/options.h"
#include "tools/probe/save.h"
#include "tools/probe/schedule.h"

#include <chrono>
#include <future>

namespace plexus::tools::probe {

/// The result of a probe.
struct Outcome {
    eco::Map map;
    eco::Partition subnets;
    std::size_t acquired = 0; ///< models with parameters
    std::size_t contexts = 0;
    std::size_t measured = 0;             ///< pairs, the repeats not counted
    std::size_t repeated = 0;             ///< edges that decide and were measured again
    std::vector<std::string> missing;     ///< a sentence for each pair without a cost
    std::vector<std::string> unconfirmed; ///< and for each second look that failed
    double seconds = 0;
};

/// Measures what the options ask for and keeps the file of the map up to date. Tells all stations to finish
/// when it ends, however it does.
/// @error what meet_all(), load_map() and save() throw; bad_config the map does not fit the options (thrown)
Outcome coordinate(Context& here, const ProbeOptions& options);

} // namespace plexus::tools::probe
