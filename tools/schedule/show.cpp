// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule show`: a page or a picture of a schedule.
#include "plexus/error.h"
#include "tools/common/output.h"
#include "tools/common/usage.h"
#include "tools/schedule/arguments.h"
#include "tools/schedule/checker.h"
#include "tools/schedule/options.h"
#include "tools/schedule/schedule_file.h"
#include "tools/schedule/show/page.h"
#include "tools/schedule/show/svg.h"
#include "tools/verb.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace plexus::tools::schedule {
namespace {

/// "3" is the third round; from 0. Nothing: no round was named.
std::optional<std::size_t> round_of(const std::string& text) {
    if (text.empty()) return std::nullopt;
    std::size_t round = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), round);
    if (error != std::errc{} || end != text.data() + text.size() || round == 0)
        usage_error("schedule", fmt::format("--round takes the number of a round, from 1, not \"{}\"", text));
    return round - 1;
}

std::string title_of(const ScheduleFile& found, const std::string& file) {
    const eco::CollectiveKind kind = found.schedule.kind;
    return fmt::format("{}{} on {}", to_string(kind),
                       has_root(kind) ? fmt::format(" from terminal {}", found.schedule.root) : "",
                       found.graph.name.empty()
                           ? "the network of " + std::filesystem::path(file).filename().string()
                           : found.graph.name);
}

/// The bound is computed from the graph, whatever the file claims.
drawing::Drawing drawing_of(const std::string& file) {
    ScheduleFile found = load_schedule(file);
    try {
        found.schedule = with_paths(found.graph, std::move(found.schedule));
        if (const auto broken = violation(found.graph, found.schedule, found.bound))
            throw Error(Status::bad_argument, *broken);
    } catch (const Error& error) {
        throw Error(Status::bad_argument, fmt::format("{} holds no valid schedule: {}", file, error.what()));
    }
    // Where nobody is a root the file's may be any number.
    if (!has_root(found.schedule.kind)) found.schedule.root = 0;
    eco::RoundBound bound = eco::lower_bound(found.graph, found.schedule.kind, found.schedule.root);
    return {title_of(found, file), std::move(found.graph), std::move(found.schedule), std::move(bound)};
}

} // namespace

int show_schedule(const Options& options) {
    if (options.words.size() != 1) usage_error("schedule", "say which one FILE holds the schedule");
    const std::optional<std::size_t> round = round_of(options.round);
    if (round && !options.svg) usage_error("schedule", "--round goes with --svg: a page has all rounds");
    check_output(options.output);
    const drawing::Drawing drawing = drawing_of(options.words.front());
    const std::string text =
        options.svg ? drawing::schedule_svg(drawing, round) : drawing::schedule_page(drawing);
    write_output(text, options.output.empty() ? "-" : options.output);
    return kOk;
}

} // namespace plexus::tools::schedule
