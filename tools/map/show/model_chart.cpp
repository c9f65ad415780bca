// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/model_chart.h"

#include "tools/common/json.h"
#include "tools/common/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <variant>

namespace plexus::tools::show {
namespace {

using eco::ModelFit;
using eco::Subnet;

/// One message that was measured, as the models of its way know it.
struct Measured {
    eco::ModelMessage message;
    double time_s = 0;
};

std::vector<Measured> measured_between(const eco::Map& map, eco::Statistic statistic, std::size_t size,
                                       const Subnet& from, const Subnet& to, bool same) {
    std::vector<Measured> out;
    for (std::size_t one = 0; one < from.size(); ++one)
        for (std::size_t other = 0; other < to.size(); ++other) {
            const eco::Cost& cost = map.cost(size, from[one], to[other]);
            if (from[one] == to[other] || !cost.measured()) continue;
            out.push_back({{map.sizes_bytes()[size], 0, one, same ? other : from.size() + other},
                           cost.at(statistic) * 1e-6});
        }
    return out;
}

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double predicted(const eco::Model& model, const std::vector<Measured>& messages) {
    const auto* levels = std::get_if<eco::Steffenel>(&model);
    const bool knows_processors =
        std::holds_alternative<eco::Cappello>(model) || std::holds_alternative<eco::Lastovetsky>(model);
    if (!knows_processors)
        return predict_s(model, {messages.front().message.bytes, levels ? levels->levels.size() - 1 : 0});
    std::vector<double> all;
    for (const Measured& each : messages) all.push_back(predict_s(model, each.message));
    return median_of(std::move(all));
}

ModelWay way_of(const eco::Map& map, eco::Statistic statistic, const Subnet& from, const Subnet& to,
                const std::vector<ModelFit>& models, std::optional<std::size_t> chosen) {
    ModelWay out;
    std::vector<std::vector<Measured>> sizes;
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size) {
        auto messages = measured_between(map, statistic, size, from, to, &from == &to);
        if (messages.empty()) continue;
        std::vector<double> times;
        for (const Measured& each : messages) times.push_back(each.time_s);
        out.sizes_bytes.push_back(map.sizes_bytes()[size]);
        out.measured_s.push_back(median_of(std::move(times)));
        sizes.push_back(std::move(messages));
    }
    for (std::size_t place = 0; place < models.size(); ++place) {
        const ModelFit& fit = models[place];
        ModelCurve& curve = out.models.emplace_back();
        curve.name = to_string(fit.kind);
        curve.chosen = chosen == place;
        curve.about =
            fit.model ? fmt::format("error {:.1f} %, {}", 100 * fit.error, origin_of(fit)) : fit.words;
        if (!fit.model) continue;
        for (const auto& messages : sizes) curve.predicted_s.push_back(predicted(*fit.model, messages));
    }
    return out;
}

std::string to_json(const std::vector<double>& times) {
    std::vector<std::string> out;
    for (const double each : times) out.push_back(fmt::format("{:.4g}", each * 1e6));
    return json::list(out);
}

std::string to_json(const ModelWay& way) {
    std::vector<std::string> sizes;
    for (const std::uint64_t bytes : way.sizes_bytes) sizes.push_back(json::quote(show_size(bytes)));
    std::vector<std::string> models;
    for (const ModelCurve& each : way.models) {
        json::Object model;
        model.add("name", each.name).add("about", each.about).add("chosen", each.chosen);
        models.push_back(model.raw("predicted", to_json(each.predicted_s)).text());
    }
    json::Object out;
    out.add("name", way.name).raw("sizes", json::list(sizes)).raw("measured", to_json(way.measured_s));
    return out.raw("models", json::list(models)).text();
}

} // namespace

std::string origin_of(const ModelFit& fit) {
    if (!fit.acquired) return "fitted";
    return fmt::format("acquired, {} messages, {:.3g} MB, {:.2g} s", fit.cost.messages,
                       static_cast<double>(fit.cost.bytes) / 1e6, fit.cost.seconds);
}

std::vector<ModelWay> model_ways(const eco::Map& map, const eco::PolyRequest& request) {
    const eco::PolyPrediction made = predict(map, request);
    std::vector<ModelWay> out;
    const auto add = [&](std::string name, ModelWay way) {
        way.name = std::move(name);
        if (!way.sizes_bytes.empty()) out.push_back(std::move(way));
    };
    const auto name_of = [&](const eco::ClusterPrediction& cluster) {
        return map.hosts()[cluster.coordinator];
    };
    for (const eco::ClusterPrediction& each : made.clusters)
        add(fmt::format("inside the cluster of {}, {} hosts", name_of(each), each.hosts.size()),
            way_of(map, request.statistic, each.hosts, each.hosts, each.models, each.model));
    for (const eco::LinkPrediction& each : made.links) {
        const eco::ClusterPrediction& from = made.clusters[each.from];
        const eco::ClusterPrediction& to = made.clusters[each.to];
        add(fmt::format("from the cluster of {} to that of {}", name_of(from), name_of(to)),
            way_of(map, request.statistic, from.hosts, to.hosts, each.models, each.model));
    }
    return out;
}

std::string to_json(const std::vector<ModelWay>& ways) {
    std::vector<std::string> out;
    for (const ModelWay& each : ways) out.push_back(to_json(each));
    return json::list(out);
}

} // namespace plexus::tools::show
