// SPDX-License-Identifier: BSD-3-Clause
// Medians and percentiles of samples. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace plexus::tools::benchmark {

/// For an even number of values the mean of the two in the middle; nothing without values.
inline std::optional<double> median(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The value below which `share` of the samples lie; nothing without samples. Reorders the samples.
inline std::optional<double> percentile(std::vector<float>& samples, double share) {
    if (samples.empty()) return {};
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(samples.size() - 1));
    std::nth_element(samples.begin(), samples.begin() + at, samples.end());
    return static_cast<double>(samples[static_cast<std::size_t>(at)]);
}

} // namespace plexus::tools::benchmark
