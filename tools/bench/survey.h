// SPDX-License-Identifier: BSD-3-Clause
// One method in little time: latency and, for large messages, bandwidth.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/survey_lines.h"

namespace plexus::tools::benchmark {

/// For those of the sizes that the method carries. Latency first.
std::vector<Row> measure_survey(Initiator& end);

} // namespace plexus::tools::benchmark
