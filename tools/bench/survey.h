// SPDX-License-Identifier: BSD-3-Clause
// One method in little time: latency and, for large messages, bandwidth.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/survey_lines.h"

namespace plexus::tools::benchmark {

struct SurveyRows {
    std::vector<Row> rows; ///< for those of the sizes that the method carries; latency first
    /// What the method has learned of itself, as explain() says it, with the settings that fix it. If there
    /// is any after the measurement, streams of more sizes follow, for which the method may learn.
    std::string learned;
};
SurveyRows measure_survey(Initiator& end);

} // namespace plexus::tools::benchmark
