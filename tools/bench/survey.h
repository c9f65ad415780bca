// SPDX-License-Identifier: BSD-3-Clause
// One method in little time: latency and, of large messages, bandwidth.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/survey_lines.h"

namespace plexus::tools::bench {

/// Of the wished sizes those that the method carries. Latency first.
std::vector<Row> measure_survey(NearEnd& end);

} // namespace plexus::tools::bench
