// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/report.h"

#include "tools/common/json.h"
#include "tools/map/subnets.h"
#include "tools/verb.h"

#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools::probe {
namespace {

std::vector<std::string> quoted(const std::vector<std::string>& texts) {
    std::vector<std::string> out;
    for (const std::string& text : texts) out.push_back(json::quote(text));
    return out;
}

std::string to_json(const Outcome& outcome, const ProbeOptions& options) {
    std::vector<std::string> sizes;
    for (const std::uint64_t size : outcome.map.sizes_bytes()) sizes.push_back(std::to_string(size));
    json::Object out;
    out.add("file", options.file).add("date", outcome.map.date());
    out.add("contexts", outcome.contexts).add("hosts", outcome.map.hosts().size());
    out.raw("sizes_bytes", json::list(sizes));
    out.raw("methods", json::list(quoted(outcome.map.methods())));
    out.add("pairs_measured", outcome.measured).add("pairs_missing", outcome.missing.size());
    out.add("passes", options.passes).add("edges_repeated", outcome.repeated).add("seconds", outcome.seconds);
    out.add("tolerance", to_string(options.tolerance));
    out.raw("subnets", tools::to_json(outcome.subnets, outcome.map));
    out.raw("shared_wires", tools::to_json(outcome.map.shared_wires(), outcome.map));
    out.add("models_acquired", outcome.acquired);
    out.raw("missing", json::list(quoted(outcome.missing)));
    out.raw("unconfirmed", json::list(quoted(outcome.unconfirmed)));
    return out.text();
}

void say(const Outcome& outcome, const ProbeOptions& options) {
    std::fprintf(stderr, "plexus probe: %s has %zu hosts; %zu pairs measured in %.1f s, %zu edges repeated\n",
                 options.file.c_str(), outcome.map.hosts().size(), outcome.measured, outcome.seconds,
                 outcome.repeated);
    if (outcome.map.hosts().size() == 1)
        std::fprintf(
            stderr,
            "plexus probe: all %zu contexts are on %s, so there is nothing between hosts to measure; "
            "--per-context measures between contexts\n",
            outcome.contexts, outcome.map.hosts().front().c_str());
    if (options.models)
        std::fprintf(
            stderr,
            "plexus probe: %zu models acquired; plexus map predict %s says how good they are, and why "
            "others were not\n",
            outcome.acquired, options.file.c_str());
    for (const auto& wire : outcome.map.shared_wires())
        std::fprintf(stderr, "plexus probe: %s and the others of its subnet share one wire\n",
                     outcome.map.hosts()[wire.front()].c_str());
    print(outcome.subnets, outcome.map);
}

} // namespace

int report(const Outcome& outcome, const ProbeOptions& options) {
    if (options.json) {
        std::printf("%s\n", to_json(outcome, options).c_str());
    } else {
        say(outcome, options);
    }
    for (const std::string& each : outcome.missing)
        std::fprintf(stderr, "plexus probe: not measured: %s\n", each.c_str());
    for (const std::string& each : outcome.unconfirmed)
        std::fprintf(stderr, "plexus probe: not confirmed: %s\n", each.c_str());
    if (outcome.missing.empty()) return kOk;
    std::fprintf(stderr,
                 "plexus probe: when they answer again, the same with --resume measures what is missing\n");
    return kNo;
}

} // namespace plexus::tools::probe
