// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory: how fast put and get move bytes, several transfers under way at once.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/report.h"

namespace plexus::tools::bench {

/// @error bad_archive other bytes arrived than were sent (thrown)
std::vector<Row> measure_transfer(NearEnd& end);

} // namespace plexus::tools::bench
