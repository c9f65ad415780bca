// SPDX-License-Identifier: BSD-3-Clause
// One-way requests in one direction, from one thread or several: how many bytes, and how
// many messages, a second.
#pragma once

#include "tools/benchmark/buffers.h"
#include "tools/benchmark/initiator.h"

namespace plexus::tools::benchmark {

/// Bandwidth or message rate, as `kind` says, for each size.
std::vector<Row> measure_stream(Initiator& end, Kind kind, const std::vector<std::uint64_t>& sizes);

} // namespace plexus::tools::benchmark
