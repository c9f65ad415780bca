// SPDX-License-Identifier: BSD-3-Clause
// What was measured of collective calls, and how it is printed: a table, or one JSON object a
// line as soon as it is known.
#pragma once

#include "tools/bench/collective/times.h"

#include <string>
#include <vector>

namespace plexus::tools::benchmark {

struct CollectiveRow {
    eco::Operation operation = eco::Operation::barrier;
    std::string pattern;
    std::uint64_t size_bytes = 0;
    eco::Rank contexts = 0;
    eco::Rank root = 0;
    std::optional<std::uint64_t> order;
    TimedBy clock = TimedBy::common;
    Completion completion;
};

std::string to_json(const CollectiveRow& row);
void print(const std::vector<CollectiveRow>& rows);

} // namespace plexus::tools::benchmark
