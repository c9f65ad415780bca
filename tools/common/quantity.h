// SPDX-License-Identifier: BSD-3-Clause
// Sizes and rates as people read them: "64 KiB", "5.7 M".
#pragma once

#include "runtime/base/quantity.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools {

/// "8 B", "64 KiB", "1.5 MiB": the largest unit that leaves at most one decimal.
std::string show_size(std::uint64_t bytes);

/// "5.71 M", "812 k", "93".
std::string show_count(double value);

/// The words between commas, without blanks around them; empty ones are kept.
std::vector<std::string> split_list(std::string_view text);

} // namespace plexus::tools
