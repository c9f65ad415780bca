// SPDX-License-Identifier: BSD-3-Clause
// The results of a survey as lines of text: the process that measures writes them, its parent reads
// them. Pure; knows nothing of contexts.
#pragma once

#include "tools/benchmark/report.h"

#include <string_view>

namespace plexus::tools::benchmark {

/// From this size on messages are judged by a stream, not by one message.
inline constexpr std::uint64_t kLargeBytes = 64 * 1024;

/// Onto standard output, a line each.
void write_survey(const std::vector<Row>& rows);
void write_failure(std::string_view why);
/// What the method has learned meanwhile, in one line.
void write_learned(std::string_view remark);

/// The results for one size.
struct Point {
    std::uint64_t size_bytes = 0;
    double one_way_us = 0;
    std::optional<double> bytes_per_s; ///< of a stream; large messages only
};

struct Survey {
    std::vector<Point> points; ///< small sizes first
    std::string failure;       ///< the first that was written; empty: none was
    std::string learned;       ///< empty: nothing
};

/// Finds both kinds of lines in the output of the process.
Survey read_survey(std::string_view output);

} // namespace plexus::tools::benchmark
