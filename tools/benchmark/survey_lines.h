// SPDX-License-Identifier: BSD-3-Clause
// What a survey says of itself: the process that makes it writes lines, the one that asked
// for it reads them. Pure text; knows nothing of contexts.
#pragma once

#include "tools/benchmark/report.h"

#include <string_view>

namespace plexus::tools::bench {

/// From here on a message counts as large: a stream of them says more than one.
inline constexpr std::uint64_t kLargeBytes = 64 * 1024;

/// Onto standard output, a line each.
void write_survey(const std::vector<Row>& rows);
void write_failure(std::string_view why);

/// What was found about one size.
struct Point {
    std::uint64_t size_bytes = 0;
    double one_way_us = 0;
    std::optional<double> bytes_per_s; ///< of a stream; large messages only
};

struct Survey {
    std::vector<Point> points; ///< small sizes first
    std::string failure;       ///< the first that was written; empty: none was
};

/// Finds both kinds of lines in whatever else the process wrote.
Survey read_survey(std::string_view output);

} // namespace plexus::tools::bench
