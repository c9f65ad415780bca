// SPDX-License-Identifier: BSD-3-Clause
// What a sample says of sizes. Pure.
#pragma once

#include "plexus/eco/fit.h"

#include <map>
#include <optional>
#include <vector>

namespace plexus::eco {

/// `values` are not empty.
double median_of(std::vector<double> values);

/// The median time of each size, rising in size.
using TimeBySize = std::map<std::uint64_t, double>;
TimeBySize time_by_size(const std::vector<MeasuredMessage>& messages);

/// The gap of each size that has one, by occupancy or by a star: its end is a message's time and a gap for
/// each member but the root and the first.
TimeBySize gap_by_size(const Sample& sample);

/// Half of what a message of the least size occupies its two ends; nothing: it was not measured.
std::optional<double> overhead_of(const Sample& sample);

std::uint64_t bytes_of(const MeasuredOperation& operation) noexcept;

/// The sample without what was measured of this size.
Sample without(const Sample& sample, std::uint64_t bytes);
/// What was measured on this level, and no operation.
Sample on_level(const Sample& sample, std::size_t level);

/// @error bad_argument a time is not finite, or not above 0 (thrown; names it)
void check(const Sample& sample);

} // namespace plexus::eco
