// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/survey_lines.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

namespace plexus::tools::benchmark {

namespace {

constexpr std::string_view kLatency = "plexus.survey latency ";
constexpr std::string_view kStream = "plexus.survey stream ";
constexpr std::string_view kFailed = "plexus.survey failed ";
constexpr std::string_view kLearned = "plexus.survey learned ";

std::optional<std::pair<std::uint64_t, double>> size_and_value(std::string_view words) {
    std::istringstream in{std::string(words)};
    std::uint64_t size = 0;
    double value = 0;
    if (!(in >> size >> value)) return {};
    return std::pair(size, value);
}

} // namespace

void write_survey(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        const bool stream = row.kind == Kind::bandwidth;
        const double value = stream ? row.bytes_per_s : row.one_way.value_or(OneWay{}).mean.value_or(0);
        std::printf("%s%llu %.9g\n", (stream ? kStream : kLatency).data(),
                    static_cast<unsigned long long>(row.size_bytes), value);
    }
}

void write_failure(std::string_view why) {
    std::printf("%s%.*s\n", kFailed.data(), static_cast<int>(why.size()), why.data());
    std::fflush(stdout);
}

void write_learned(std::string_view remark) {
    std::printf("%s%.*s\n", kLearned.data(), static_cast<int>(remark.size()), remark.data());
}

Survey read_survey(std::string_view output) {
    Survey survey;
    while (!output.empty()) {
        const std::string_view line = output.substr(0, output.find('\n'));
        output.remove_prefix(std::min(output.size(), line.size() + 1));
        if (line.starts_with(kFailed)) {
            if (survey.failure.empty()) survey.failure = line.substr(kFailed.size());
        } else if (line.starts_with(kLearned)) {
            survey.learned = line.substr(kLearned.size());
        } else if (line.starts_with(kLatency)) {
            if (const auto found = size_and_value(line.substr(kLatency.size())))
                survey.points.push_back({found->first, found->second, {}});
        } else if (line.starts_with(kStream)) {
            const auto found = size_and_value(line.substr(kStream.size()));
            for (Point& point : survey.points)
                if (found && point.size_bytes == found->first) point.bytes_per_s = found->second;
        }
    }
    std::sort(survey.points.begin(), survey.points.end(),
              [](const Point& one, const Point& other) { return one.size_bytes < other.size_bytes; });
    return survey;
}

} // namespace plexus::tools::benchmark
