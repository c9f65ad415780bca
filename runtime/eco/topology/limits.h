// SPDX-License-Identifier: BSD-3-Clause
// What numbers of maps and models may be: beyond these no clock measures, and sums and products of sizes and
// members would leave the range of a double.
#pragma once

namespace plexus::eco {

inline constexpr double kLeastTime = 1e-15; // seconds
inline constexpr double kMostTime = 1e15;
inline constexpr double kLeastBandwidth = 1e-15; // bytes a second
inline constexpr double kMostBandwidth = 1e18;

} // namespace plexus::eco
