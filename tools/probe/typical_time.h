// SPDX-License-Identifier: BSD-3-Clause
// Which of several times of one experiment stands for them. Pure. Any thread.
#pragma once

#include <vector>

namespace plexus::tools::probe {

/// Of repetitions, and of what several passes gave: without load the least, which nothing disturbed; under
/// load the median, since the least is that of a moment without load. `times` are not empty.
double typical_time(std::vector<double> times, bool under_load);

} // namespace plexus::tools::probe
