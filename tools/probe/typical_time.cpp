// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/typical_time.h"

#include <algorithm>
#include <cstddef>

namespace plexus::tools::probe {

double typical_time(std::vector<double> times, bool under_load) {
    if (!under_load) return *std::min_element(times.begin(), times.end());
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    if (times.size() % 2 == 1) return *middle;
    return (*std::max_element(times.begin(), middle) + *middle) / 2;
}

} // namespace plexus::tools::probe
