// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/survey.h"

#include "tools/benchmark/stream.h"

namespace plexus::tools::benchmark {

namespace {

constexpr std::uint64_t kHeaders = 256; ///< more than the runtime adds to an argument

/// The smallest of the lanes' largest messages; 0: no limit.
std::uint64_t largest_message(const Context& here) {
    std::uint64_t least = 0;
    for (const LaneReport& lane : here.lanes())
        if (lane.max_message != 0 && (least == 0 || lane.max_message < least)) least = lane.max_message;
    return least;
}

} // namespace

std::vector<Row> measure_survey(Initiator& end) {
    const std::uint64_t limit = largest_message(end.here());
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> large;
    for (const std::uint64_t size : end.options().sizes) {
        if (limit != 0 && size + kHeaders > limit) continue;
        sizes.push_back(size);
        if (size >= kLargeBytes) large.push_back(size);
    }
    std::vector<Row> rows = measure_latency(end, sizes);
    for (Row& row : measure_stream(end, Kind::bandwidth, large)) rows.push_back(std::move(row));
    return rows;
}

} // namespace plexus::tools::benchmark
