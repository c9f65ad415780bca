// SPDX-License-Identifier: BSD-3-Clause
// Sizes and rates as people read and write them: "64 KiB", "5.7 M".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools {

/// Bytes: a whole number with nothing, B, KiB, MiB or GiB after it (a blank between is
/// allowed). Nothing: it is not such a size, or above 2^63.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// "8 B", "64 KiB", "1.5 MiB": the largest unit that leaves at most one decimal.
std::string show_size(std::uint64_t bytes);

/// "5.71 M", "812 k", "93".
std::string show_count(double value);

/// The words between commas, without blanks around them; empty ones are kept.
std::vector<std::string> split_list(std::string_view text);

} // namespace plexus::tools
