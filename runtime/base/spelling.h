// SPDX-License-Identifier: BSD-3-Clause
// Suggests known words for a misspelt one. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus {

/// Letters to insert, drop, change, or swap with their neighbour, that make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The most likely of `known`, at most three, best first; empty if nothing is near.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known);

/// "; did you mean tcp or udp?", or nothing if none of `known` is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

} // namespace plexus
