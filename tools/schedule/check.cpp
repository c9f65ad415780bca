// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule check`: OK or FAIL for each file.
#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/common/usage.h"
#include "tools/schedule/checker.h"
#include "tools/schedule/graph_file.h"
#include "tools/schedule/options.h"
#include "tools/schedule/schedule_file.h"
#include "tools/verb.h"

#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools::schedule {
namespace {

/// What is wrong with the file; begins with its name. Nothing: it holds a valid schedule.
std::optional<std::string> mistake_in(const std::string& file, const std::optional<eco::LinkGraph>& against) {
    try {
        ScheduleFile found = load_schedule(file);
        if (against)
            if (const auto differs = difference(found.graph, *against))
                return fmt::format("{}: it is a schedule for another network: {}", file, *differs);
        try {
            found.schedule = with_paths(found.graph, std::move(found.schedule));
            const auto broken = violation(found.graph, found.schedule, found.bound);
            if (broken) return file + ": " + *broken;
        } catch (const Error& error) { return fmt::format("{}: {}", file, error.what()); }
    } catch (const Error& error) { return error.what(); } // names the file
    return std::nullopt;
}

} // namespace

int check_files(const Options& options) {
    if (options.words.empty()) usage_error("schedule", "say which FILE holds the schedule");
    std::optional<eco::LinkGraph> against;
    if (!options.against.empty()) against = graph_of(options.against);
    int out = kOk;
    for (const std::string& file : options.words) {
        const auto mistake = mistake_in(file, against);
        std::printf("%s %s\n", mistake ? "FAIL" : "OK", json::printable(mistake.value_or(file)).c_str());
        if (mistake) out = kNo;
    }
    return out;
}

} // namespace plexus::tools::schedule
