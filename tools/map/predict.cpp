// SPDX-License-Identifier: BSD-3-Clause
// `plexus map predict`: the poly-model of a map, its figures and its choice.
#include "tools/common/json.h"
#include "tools/common/quantity.h"
#include "tools/common/text_table.h"
#include "tools/common/usage.h"
#include "tools/map/models.h"
#include "tools/map/options.h"
#include "tools/map/show/model_chart.h"
#include "tools/map/show/plans.h"
#include "tools/verb.h"

#include "plexus/eco/network.h"
#include "plexus/eco/poly_model.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <numeric>
#include <optional>

namespace plexus::tools {
namespace {

using eco::ClusterPrediction;
using eco::Map;
using eco::Operation;
using eco::PatternTime;
using eco::PolyPrediction;
using eco::PolyRequest;

/// As parse_algorithm() takes it.
std::string algorithm_of(const eco::AlgorithmOptions& options) {
    const std::string name(to_string(options.pattern));
    if (options.pattern == eco::Pattern::tree) return fmt::format("{}:{}", name, options.arity);
    if (options.pattern != eco::Pattern::chain || options.segment_bytes == 0) return name;
    const std::uint64_t bytes = options.segment_bytes;
    return bytes % 1024 == 0 ? fmt::format("{}:{}KiB", name, bytes / 1024)
                             : fmt::format("{}:{}B", name, bytes);
}

bool has_two_butterflies(const PatternTime& time, Operation operation) {
    return time.options.pattern == eco::Pattern::butterfly && operation == Operation::all_reduce;
}

bool halves(const PatternTime& time) { return time.options.halve_from_bytes == 0; }

std::string name_of(const PatternTime& time, Operation operation) {
    const std::string name = algorithm_of(time.options);
    if (!has_two_butterflies(time, operation)) return name;
    return name + (halves(time) ? ", halving" : ", whole vectors");
}

std::string json_of(const PatternTime& time, Operation operation) {
    json::Object out;
    out.add("algorithm", algorithm_of(time.options)).raw("s", json::exact(time.time_s));
    if (has_two_butterflies(time, operation)) out.add("halves", halves(time));
    return out.text();
}

std::string json_of(const eco::AcquisitionCost& cost) {
    json::Object out;
    out.add("messages", cost.messages).add("bytes", cost.bytes).raw("s", json::exact(cost.seconds));
    return out.text();
}

std::string json_of(const eco::ModelFit& fit, std::uint64_t bytes) {
    json::Object out;
    out.add("name", to_string(fit.kind));
    out.raw("error", fit.model ? json::exact(fit.error) : "null");
    out.raw("error_at_size", fit.model ? json::exact(error_at(fit, bytes)) : "null");
    out.raw("origin", fit.model ? (fit.acquired ? "\"acquired\"" : "\"fitted\"") : "null");
    out.raw("cost", fit.acquired ? json_of(fit.cost) : "null");
    return out.add("cross_validated", fit.cross_validated).add("words", fit.words).text();
}

std::string json_of(const eco::LinkPrediction& link, const PolyPrediction& made, const Map& map,
                    std::uint64_t bytes) {
    std::vector<std::string> models;
    for (const eco::ModelFit& fit : link.models) models.push_back(json_of(fit, bytes));
    json::Object out;
    out.add("from", map.hosts()[made.clusters[link.from].coordinator]);
    out.add("to", map.hosts()[made.clusters[link.to].coordinator]).raw("models", json::list(models));
    out.raw("model", link.model ? json::quote(to_string(link.models[*link.model].kind)) : "null");
    return out.text();
}

std::string json_of(const ClusterPrediction& cluster, const Map& map, const PolyRequest& request) {
    std::vector<std::string> hosts;
    std::vector<std::string> models;
    std::vector<std::string> patterns;
    for (const std::size_t host : cluster.hosts) hosts.push_back(json::quote(map.hosts()[host]));
    for (const eco::ModelFit& fit : cluster.models) models.push_back(json_of(fit, request.bytes));
    for (const PatternTime& time : cluster.patterns) patterns.push_back(json_of(time, request.operation));
    json::Object out;
    out.raw("hosts", json::list(hosts)).add("coordinator", map.hosts()[cluster.coordinator]);
    out.raw("models", json::list(models)).raw("patterns", json::list(patterns));
    out.raw("model", cluster.model ? json::quote(to_string(cluster.models[*cluster.model].kind)) : "null");
    out.raw("pattern", cluster.patterns.empty() ? "null" : json_of(cluster.fastest, request.operation));
    return out.text();
}

std::string json_of(const std::vector<std::vector<double>>& matrix) {
    std::vector<std::string> rows;
    for (const std::vector<double>& row : matrix) {
        std::vector<std::string> numbers;
        for (const double each : row) numbers.push_back(json::exact(each));
        rows.push_back(json::list(numbers));
    }
    return json::list(rows);
}

std::string json_of(const eco::InterclusterInstance& instance) {
    std::vector<std::string> inside;
    for (const double each : instance.inside_s) inside.push_back(json::exact(each));
    json::Object out;
    out.raw("L", json_of(instance.latency_s)).raw("g", json_of(instance.spacing_s));
    return out.raw("T", json::list(inside)).add("root", instance.root).text();
}

/// What the estimate says of a plan on the map, in seconds.
struct PlanTime {
    double idle_s = 0; ///< a first call: connections over long ways begin slowly
    double open_s = 0; ///< a call that follows another one
};

PlanTime time_of(const eco::Plan& plan, const eco::Network& network) {
    constexpr double kSecondsPerUs = 1e-6;
    return {estimate_us(plan, network, eco::Connections::idle) * kSecondsPerUs,
            estimate_us(plan, network, eco::Connections::open) * kSecondsPerUs};
}

struct EstimatedPlans {
    PlanTime chosen; ///< the plan that the models and the schedule choose
    PlanTime groups; ///< the plan that a group with this map follows
};

/// Nothing: planning for so many hosts takes long.
std::optional<EstimatedPlans> estimate(const Map& map, const PolyRequest& request,
                                       const PolyPrediction& made) {
    constexpr std::size_t kMostHosts = 256;
    if (map.hosts().size() > kMostHosts) return std::nullopt;
    std::vector<std::size_t> host_of(map.hosts().size());
    std::iota(host_of.begin(), host_of.end(), std::size_t{0});
    const eco::Network network(map, host_of, request.tolerance); // as groups take it
    const eco::PlanRequest task{
        request.operation, network.size(), static_cast<eco::Rank>(request.root), request.bytes, 1, true};
    return EstimatedPlans{time_of(to_plan(made, task), network), time_of(plan_eco(task, network), network)};
}

std::string json_of(const PlanTime& time) {
    json::Object out;
    return out.raw("idle", json::exact(time.idle_s)).raw("open", json::exact(time.open_s)).text();
}

void add_schedules(json::Object& out, const PolyRequest& request, const PolyPrediction& made) {
    const eco::InterclusterSchedule& chosen = made.schedules[made.chosen];
    json::Object schedules;
    for (const eco::InterclusterSchedule& each : made.schedules)
        schedules.raw(to_string(*each.rule), to_json(each));
    out.raw("between", json_of(made.between)).raw("schedules", schedules.text());
    out.add("chosen", to_string(*chosen.rule));
    out.raw("completion", json::exact(chosen.completion_s(request.completion)));
}

std::string json_of(const eco::ExchangeTime& time) {
    json::Object out;
    out.add("exchangers", time.options.exchangers).add("in_rounds", time.options.in_rounds);
    return out.raw("s", json::exact(time.time_s)).text();
}

void add_patterns(json::Object& out, const PolyRequest& request, const PolyPrediction& made) {
    std::vector<std::string> patterns;
    for (const PatternTime& each : made.patterns) patterns.push_back(json_of(each, request.operation));
    out.raw("patterns_between", json::list(patterns));
    if (!made.exchanges.empty()) {
        std::vector<std::string> exchanges;
        for (const eco::ExchangeTime& each : made.exchanges) exchanges.push_back(json_of(each));
        out.raw("exchanges", json::list(exchanges));
    }
    if (made.exchange) {
        out.add("chosen", "exchange").raw("exchange", json_of(*made.exchange));
        out.raw("completion", json::exact(made.exchange->time_s));
        return;
    }
    out.add("chosen", algorithm_of(made.fastest.options));
    if (has_two_butterflies(made.fastest, request.operation)) out.add("halves", halves(made.fastest));
    out.raw("completion", json::exact(made.fastest.time_s));
}

void print_json(const MapOptions& options, const Map& map, const PolyRequest& request,
                const PolyPrediction& made) {
    std::vector<std::string> clusters;
    std::vector<std::string> remarks;
    for (const ClusterPrediction& each : made.clusters) clusters.push_back(json_of(each, map, request));
    std::vector<std::string> links;
    for (const std::string& each : made.remarks) remarks.push_back(json::quote(each));
    for (const eco::LinkPrediction& each : made.links)
        links.push_back(json_of(each, made, map, request.bytes));
    json::Object out;
    out.add("file", options.file).add("operation", to_string(request.operation)).add("size", request.bytes);
    out.add("root", map.hosts()[request.root]).raw("clusters", json::list(clusters));
    out.raw("links", json::list(links)).raw("remarks", json::list(remarks));
    if (made.missing.empty()) {
        made.patterns.empty() ? add_schedules(out, request, made) : add_patterns(out, request, made);
        if (const auto plans = estimate(map, request, made)) {
            json::Object estimated;
            estimated.raw("chosen", json_of(plans->chosen)).raw("eco", json_of(plans->groups));
            out.raw("estimate", estimated.text());
        }
    } else {
        out.add("missing", made.missing);
    }
    std::printf("%s\n", out.text().c_str());
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// The models chosen for the ways between clusters, where any were acquired.
void print_links(const PolyPrediction& made, const Map& map, std::uint64_t bytes) {
    const auto was_acquired = [](const eco::LinkPrediction& link) {
        return std::any_of(link.models.begin(), link.models.end(),
                           [](const eco::ModelFit& fit) { return fit.acquired; });
    };
    if (std::none_of(made.links.begin(), made.links.end(), was_acquired)) return;
    TextTable table({"from", "to", "model", "error", "here", "origin"}, 6);
    for (const eco::LinkPrediction& link : made.links) {
        if (!link.model) continue;
        const eco::ModelFit& fit = link.models[*link.model];
        table.add({map.hosts()[made.clusters[link.from].coordinator],
                   map.hosts()[made.clusters[link.to].coordinator], std::string(to_string(fit.kind)),
                   percent(fit.error), percent(error_at(fit, bytes)), show::origin_of(fit)});
    }
    table.print(stdout);
}

std::string name_of(const eco::ExchangeTime& time) {
    return fmt::format("exchange by up to {} of each cluster{}", time.options.exchangers,
                       time.options.in_rounds ? ", in rounds" : "");
}

void print_exchanges(const std::vector<eco::ExchangeTime>& all) {
    if (all.empty()) return;
    TextTable table({"without coordinators", "s"});
    for (const eco::ExchangeTime& each : all) table.add({name_of(each), fmt::format("{:.6g}", each.time_s)});
    table.print(stdout);
}

void print_patterns(const std::vector<PatternTime>& all, Operation operation) {
    TextTable table({"pattern", "s"});
    for (const PatternTime& each : all)
        table.add({name_of(each, operation), fmt::format("{:.6g}", each.time_s)});
    table.print(stdout);
}

void print_cluster(const ClusterPrediction& cluster, std::size_t number, const Map& map,
                   const PolyRequest& request) {
    const std::size_t hosts = cluster.hosts.size();
    std::printf("\ncluster %zu of %s: %zu host%s\n", number, map.hosts()[cluster.coordinator].c_str(), hosts,
                hosts == 1 ? "" : "s");
    if (cluster.models.empty()) return;
    TextTable models({"model", "error", "here", "origin", "remark"}, 5);
    for (const eco::ModelFit& fit : cluster.models) {
        const std::string unseen = fit.model && !fit.cross_validated ? "of the sizes it was fitted to" : "";
        models.add({std::string(to_string(fit.kind)), fit.model ? percent(fit.error) : "-",
                    fit.model ? percent(error_at(fit, request.bytes)) : "-",
                    fit.model ? show::origin_of(fit) : "-",
                    unseen.empty() || fit.words.empty() ? unseen + fit.words : unseen + "; " + fit.words});
    }
    models.print(stdout);
    if (cluster.patterns.empty()) return;
    print_patterns(cluster.patterns, request.operation);
    std::printf("chosen: %s, %s\n", std::string(to_string(cluster.models[*cluster.model].kind)).c_str(),
                name_of(cluster.fastest, request.operation).c_str());
}

void print_text(const Map& map, const PolyRequest& request, const PolyPrediction& made) {
    std::printf("%s of %s, root %s\n", std::string(to_string(request.operation)).c_str(),
                show_size(request.bytes).c_str(), map.hosts()[request.root].c_str());
    for (const std::string& each : made.remarks) std::printf("%s\n", each.c_str());
    for (std::size_t number = 0; number < made.clusters.size(); ++number)
        print_cluster(made.clusters[number], number, map, request);
    if (!made.missing.empty()) {
        std::printf("\nno choice: %s\n", made.missing.c_str());
        return;
    }
    std::printf("\nbetween clusters%s\n", request.operation == Operation::reduce
                                              ? ", each send the other way and in reverse order"
                                              : "");
    print_links(made, map, request.bytes);
    if (made.patterns.empty()) {
        print(made.schedules);
        const eco::InterclusterSchedule& chosen = made.schedules[made.chosen];
        std::printf("chosen: %s, %.6g s\n", std::string(to_string(*chosen.rule)).c_str(),
                    chosen.completion_s(request.completion));
    } else {
        print_patterns(made.patterns, request.operation);
        print_exchanges(made.exchanges);
        std::printf(
            "chosen: %s, %.6g s\n",
            (made.exchange ? name_of(*made.exchange) : name_of(made.fastest, request.operation)).c_str(),
            made.exchange ? made.exchange->time_s : made.fastest.time_s);
    }
    const auto plans = estimate(map, request, made);
    if (!plans) return;
    TextTable table({"plan, played on the map", "first call s", "further calls s"});
    table.add({"chosen by models", fmt::format("{:.6g}", plans->chosen.idle_s),
               fmt::format("{:.6g}", plans->chosen.open_s)});
    table.add({"of groups with this map", fmt::format("{:.6g}", plans->groups.idle_s),
               fmt::format("{:.6g}", plans->groups.open_s)});
    table.print(stdout);
}

PolyRequest request_of(const Map& map, const MapOptions& options, eco::Completion completion) {
    PolyRequest out;
    if (!options.operation.empty()) out.operation = show::operation_of(options.operation);
    out.bytes = options.size_bytes.value_or(kUsualSize);
    if (!options.root.empty()) {
        const auto root = std::find(map.hosts().begin(), map.hosts().end(), options.root);
        if (root == map.hosts().end())
            usage_error("map",
                        fmt::format("--root takes a host of {}, and {} is none", options.file, options.root));
        out.root = static_cast<std::size_t>(root - map.hosts().begin());
    }
    out.tolerance = options.tolerance;
    if (options.symmetry != eco::Symmetry::refuse) out.symmetry = options.symmetry;
    out.statistic = options.statistic;
    out.completion = completion;
    return out;
}

} // namespace

int print_prediction(const MapOptions& options, eco::Completion completion) {
    const Map map = eco::load_map(options.file);
    const PolyRequest request = request_of(map, options, completion);
    const PolyPrediction made = eco::predict(map, request);
    if (options.json)
        print_json(options, map, request, made);
    else
        print_text(map, request, made);
    return made.missing.empty() ? kOk : kNo;
}

} // namespace plexus::tools
