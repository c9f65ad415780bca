// SPDX-License-Identifier: BSD-3-Clause
// One-way requests in one direction, from one thread or several: how many bytes, and how
// many messages, a second.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/report.h"

namespace plexus::tools::bench {

/// Bandwidth or message rate, whichever `kind` says, for each size.
std::vector<Row> measure_stream(NearEnd& end, Kind kind, const std::vector<std::uint64_t>& sizes);

} // namespace plexus::tools::bench
