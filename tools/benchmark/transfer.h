// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory: how fast put and get move bytes, several transfers under way at once.
#pragma once

#include "tools/benchmark/initiator.h"

namespace plexus::tools::benchmark {

/// @error bad_archive other bytes arrived than were sent (thrown)
std::vector<Row> measure_transfer(Initiator& end);

} // namespace plexus::tools::benchmark
