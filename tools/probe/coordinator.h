// SPDX-License-Identifier: BSD-3-Clause
// Rank 0's second part: has the pairs measured one after the other and makes the map of what
// they took. On a thread of its own that never polls: the main thread, which does, may be
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

/// What a probe found.
struct Outcome {
    eco::Map map;
    eco::Partition subnets;
    std::size_t contexts = 0;
    std::size_t measured = 0;             ///< pairs, the repeats not counted
    std::size_t repeated = 0;             ///< edges that decide and were measured again
    std::vector<std::string> missing;     ///< a sentence for each pair without a cost
    std::vector<std::string> unconfirmed; ///< and for each second look that failed
    double seconds = 0;
};

/// Measures what the wish asks for and keeps its file up to date. Tells all stations to finish
/// when it ends, however it does.
/// @error what meet_all(), load_map() and save() throw; bad_config the map does not fit the wish (thrown)
Outcome coordinate(Context& here, const Wish& wish);

} // namespace plexus::tools::probe
