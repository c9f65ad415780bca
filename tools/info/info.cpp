// SPDX-License-Identifier: BSD-3-Clause
// `plexus info`: what a context started here has: methods and their origin, refused modules and the reasons,
// the context's table, limits, the cost of polling.
#include "tools/common/command_line.h"
#include "tools/common/json.h"
#include "tools/common/quantity.h"
#include "tools/common/table_file.h"
#include "tools/common/text_table.h"
#include "tools/info/measure.h"
#include "tools/verb.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools {
namespace {

constexpr char kInfoFooter[] =
    "plexus info --table writes the context's descriptor table, as plexus explain --table reads it.\n"
    "plexus info --measure takes about a second for each method, in processes of their own, and\n"
    "recommends an order as configuration.";

/// Polls for a moment, so that the costs of polling are known.
void poll_a_while(Context& here) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < end)
        for (int turn = 0; turn < 100; ++turn) here.progress();
}

std::string show_skip_poll(const LaneReport& lane) {
    if (lane.confined) return "confined";
    if (lane.blocking) return "blocking";
    return lane.automatic ? fmt::format("auto, now {}", lane.skip_poll) : std::to_string(lane.skip_poll);
}

double hit_rate(const LaneReport& lane) {
    return lane.polls == 0 ? 0 : static_cast<double>(lane.hits) / static_cast<double>(lane.polls);
}

void print_lanes(const std::vector<LaneReport>& lanes) {
    std::printf("Methods, in order of preference\n\n");
    TextTable table(
        {"method", "from", "skip_poll", "poll ns", "hit rate", "links", "inline", "eager", "max message"}, 3);
    const auto size_or = [](std::uint64_t bytes, const char* none) {
        return bytes == 0 ? std::string(none) : show_size(bytes);
    };
    for (const LaneReport& lane : lanes)
        table.add({lane.method, lane.origin, show_skip_poll(lane), fmt::format("{:.1f}", lane.poll_cost_ns),
                   fmt::format("{:.2f} %", 100 * hit_rate(lane)), std::to_string(lane.traffic.links),
                   size_or(lane.inline_bytes, "-"), size_or(lane.eager_bytes, "-"),
                   size_or(lane.max_message, "any")});
    table.print(stdout);
}

void print_rest(const Context& here) {
    if (const auto refused = here.refused(); !refused.empty()) {
        std::printf("\nNot in use\n\n");
        TextTable table({"what", "why"}, 2);
        for (const RefusedModule& each : refused) table.add({each.what, each.why});
        table.print(stdout);
    }
    std::printf("\nDescriptors of this context, as they travel in its pointers\n\n");
    TextTable rows({"row", "method", "within", "bytes", "descriptor"}, 5);
    for (const Descriptor& row : here.table()) {
        const std::string bytes = hexadecimal(row.bytes);
        rows.add({std::to_string(rows.rows() + 1), row.method, row.within.empty() ? "any" : row.within,
                  std::to_string(row.bytes.size()), bytes.size() > 48 ? bytes.substr(0, 48) + "…" : bytes});
    }
    rows.print(stdout);
    std::printf("\nLimits\n\n");
    TextTable limits({"key", "value", "from"}, 3);
    for (const SettingReport& each : here.settings())
        if (each.key.starts_with("limits.")) limits.add({each.key, each.value, each.origin});
    limits.print(stdout);
}

void print_settings(const Context& here) {
    TextTable table({"key", "value", "from", "what it does"}, 4);
    for (const SettingReport& each : here.settings())
        table.add({each.key, each.value, each.origin, each.help});
    table.print(stdout);
}

std::string settings_json(const Context& here) {
    std::vector<std::string> all;
    for (const SettingReport& each : here.settings())
        all.push_back(json::Object()
                          .add("key", each.key)
                          .add("value", each.value)
                          .add("origin", each.origin)
                          .add("help", each.help)
                          .text());
    return json::list(all);
}

std::string lane_json(const LaneReport& lane) {
    json::Object out;
    out.add("method", lane.method).add("origin", lane.origin);
    out.add("automatic", lane.automatic).add("skip_poll", lane.skip_poll);
    out.add("blocking", lane.blocking).add("confined", lane.confined);
    out.add("poll_cost_ns", lane.poll_cost_ns)
        .add("polls", lane.polls)
        .add("hits", lane.hits)
        .add("hit_rate", hit_rate(lane));
    const LaneTraffic& traffic = lane.traffic;
    out.add("links", traffic.links).add("shared_bytes", traffic.shared_bytes);
    out.add("messages_sent", traffic.messages_sent).add("bytes_sent", traffic.bytes_sent);
    out.add("messages_received", traffic.messages_received).add("bytes_received", traffic.bytes_received);
    out.add("repairs", traffic.repairs).add("fallbacks", traffic.fallbacks).add("refusals", traffic.refusals);
    out.add("dropped", traffic.dropped);
    return out.add("inline_bytes", lane.inline_bytes)
        .add("eager_bytes", lane.eager_bytes)
        .add("max_message", lane.max_message)
        .text();
}

std::string launcher_json(const LauncherReport& launcher) {
    return json::Object().add("name", launcher.name).add("why", launcher.why).add("job", launcher.job).text();
}

std::string context_json(const Context& here) {
    std::vector<std::string> lanes;
    for (const LaneReport& lane : here.lanes()) lanes.push_back(lane_json(lane));
    std::vector<std::string> refused;
    for (const RefusedModule& each : here.refused())
        refused.push_back(json::Object().add("what", each.what).add("why", each.why).text());
    std::vector<std::string> table;
    for (const Descriptor& row : here.table())
        table.push_back(json::Object()
                            .add("method", row.method)
                            .add("within", row.within.empty() ? std::string("any") : row.within)
                            .add("descriptor", hexadecimal(row.bytes))
                            .text());
    json::Object out;
    out.add("version", PLEXUS_VERSION)
        .add("context", to_string(here.id()))
        .add("name", here.name())
        .add("site", here.table().place().site)
        .add("rank", here.rank())
        .add("size", here.size())
        .raw("launcher", launcher_json(here.launcher()));
    out.add("url", here.url())
        .raw("methods", json::list(lanes))
        .raw("refused", json::list(refused))
        .raw("table", json::list(table));
    return out.raw("settings", settings_json(here)).text();
}

} // namespace

int info(int count, char** arguments) {
    CommandLine line(
        "info", "Lists methods, their modules, descriptors and limits, as a context started here has them.",
        "[OPTIONS]", kInfoFooter);
    bool configuration = false;
    bool table = false;
    bool measured = false;
    std::string output;
    line.app().add_flag("--config", configuration,
                        "List every key of the configuration with its value, and where that came from");
    line.app()
        .add_flag("--table", table, "Write this context's descriptor table, a row a line")
        ->excludes("--config")
        ->excludes("--json");
    CLI::Option* const measuring =
        line.app()
            .add_flag("--measure", measured,
                      "Measure each method between two contexts of this machine, and recommend an order")
            ->excludes("--config")
            ->excludes("--table");
    line.app()
        .add_option("--output", output,
                    "With --measure: write the recommended configuration to this new file")
        ->type_name("FILE")
        ->needs(measuring);
    if (!line.parse(count, arguments)) return kOk;
    if (measured) return measure(line, output);

    Context here = line.start();
    if (table) {
        std::printf("%s", write_table(here.table()).c_str());
    } else if (configuration) {
        if (line.json()) {
            std::printf("%s\n", json::Object().raw("settings", settings_json(here)).text().c_str());
        } else {
            print_settings(here);
        }
    } else {
        poll_a_while(here);
        if (line.json()) {
            std::printf("%s\n", context_json(here).c_str());
        } else {
            const std::string site = here.table().place().site;
            std::printf("Plexus %s, context %s%s%s%s%s, rank %u of %u%s%s\n\n", PLEXUS_VERSION,
                        to_string(here.id()).c_str(), here.name().empty() ? "" : " named ",
                        here.name().c_str(), site.empty() ? "" : " at ", site.c_str(), here.rank(),
                        here.size(), here.url().empty() ? "" : ", others may join at ", here.url().c_str());
            const LauncherReport launcher = here.launcher();
            std::printf("Launcher: %s (%s)%s%s\n\n", launcher.name.c_str(), launcher.why.c_str(),
                        launcher.job.empty() ? "" : ", job ", launcher.job.c_str());
            print_lanes(here.lanes());
            print_rest(here);
        }
    }
    return kOk;
}

} // namespace plexus::tools
