// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/survey.h"

#include "tools/benchmark/stream.h"

#include <string_view>
#include <utility>

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

constexpr std::uint64_t kLeastTaught = 4096;
constexpr std::uint64_t kMostTaught = 16 << 20;

// What the method in use has learned of itself, with the settings that fix it. Empty: it learns nothing.
std::string learned_at(Context& here) {
    constexpr std::string_view kApplies = "applies, ";
    constexpr std::string_view kSettings = "; fixed by ";
    const Choice choice = here.explain(here.lookup<Sink>(sink_name(0)).get().table());
    if (!choice.row) return {};
    const std::string& because = choice.trail[*choice.row].because;
    const bool learns = because.starts_with(kApplies) && because.find(kSettings) != std::string::npos;
    return learns ? because.substr(kApplies.size()) : std::string();
}

} // namespace

SurveyRows measure_survey(Initiator& end) {
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
    std::string learned = learned_at(end.here());
    if (!learned.empty()) {
        std::vector<std::uint64_t> taught;
        for (std::uint64_t size = kLeastTaught; size <= kMostTaught; size *= 2)
            if (limit == 0 || size + kHeaders <= limit) taught.push_back(size);
        (void)measure_stream(end, Kind::bandwidth, taught);
        learned = learned_at(end.here());
    }
    return {std::move(rows), std::move(learned)};
}

} // namespace plexus::tools::benchmark
