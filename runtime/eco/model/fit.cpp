// SPDX-License-Identifier: BSD-3-Clause
// Leave one size out: each size is predicted by the model of the others.
#include "plexus/eco/fit.h"

#include "model/parameters.h"
#include "model/sample.h"
#include "plexus/eco/acquire.h"
#include "plexus/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace plexus::eco {
namespace {

static_assert(std::size(kModelKinds) == std::variant_size_v<Model>);

bool knows_processors(ModelKind kind) {
    return kind == ModelKind::cappello || kind == ModelKind::lastovetsky;
}

/// Of what was measured of one size: the mean, over its messages, gaps and operations, of their medians of
/// |predicted - measured| / measured.
class SizeJudge {
  public:
    SizeJudge(ModelKind kind, const Model& model, const Sample& sample, std::uint64_t bytes)
      : bytes_(bytes) {
        take_messages(kind, model, sample);
        for (const MeasuredOccupancy& each : sample.occupancy)
            if (each.bytes == bytes && each.gap_s.value_or(0) > 0)
                add(cost(model, ModelMessage{bytes, each.level}).spacing_s, *each.gap_s);
        close();
        for (const MeasuredOperation& each : sample.operations)
            if (bytes_of(each) == bytes && each.request.members > 1)
                add(predict_s(model, each.request, each.options), each.time_s);
        close();
    }

    double error() const { return sum_ / medians_; }

  private:
    void take_messages(ModelKind kind, const Model& model, const Sample& sample) {
        std::map<std::size_t, double> by_level;
        for (const auto& [message, time] : sample.messages) {
            if (message.bytes != bytes_) continue;
            if (knows_processors(kind)) {
                add(predict_s(model, message), time);
                continue;
            }
            const auto [known, is_new] = by_level.try_emplace(message.level);
            if (is_new) known->second = predict_s(model, ModelMessage{bytes_, message.level});
            add(known->second, time);
        }
        close();
    }

    void add(double predicted, double measured) {
        errors_.push_back(std::abs(predicted - measured) / measured);
    }
    void close() {
        if (errors_.empty()) return;
        sum_ += median_of(std::move(errors_));
        medians_ += 1;
        errors_.clear();
    }

    std::uint64_t bytes_;
    std::vector<double> errors_;
    double sum_ = 0;
    double medians_ = 0;
};

/// By the model of the other sizes; nothing: they are too few, or without something that the model needs.
std::optional<double> error_left_out(ModelKind kind, const Sample& sample, std::uint64_t bytes) {
    try {
        const Model model = parameters_of(kind, without(sample, bytes)).model;
        return SizeJudge(kind, model, sample, bytes).error();
    } catch (const Error&) { return std::nullopt; }
}

void judge(ModelFit& fit, const Sample& sample) {
    std::map<std::uint64_t, std::optional<double>> by_size;
    for (const MeasuredMessage& each : sample.messages) by_size[each.message.bytes];
    fit.cross_validated = true;
    for (auto& [bytes, error] : by_size) {
        error = error_left_out(fit.kind, sample, bytes);
        fit.cross_validated = fit.cross_validated && error;
    }
    std::vector<double> all;
    for (auto& [bytes, error] : by_size) {
        if (!fit.cross_validated) error = SizeJudge(fit.kind, *fit.model, sample, bytes).error();
        fit.by_size.push_back({bytes, *error});
        all.push_back(*error);
    }
    fit.error = median_of(std::move(all));
}

std::optional<ModelKind> kind_named(std::string_view name) {
    for (const ModelKind kind : kModelKinds)
        if (to_string(kind) == name) return kind;
    return {};
}

AcquiredModel without(AcquiredModel acquired, std::uint64_t bytes) {
    for (AcquiredLevel& level : acquired.levels)
        if (level.sizes.size() > 1)
            std::erase_if(level.sizes, [&](const SizedTimes& each) { return each.bytes == bytes; });
    return acquired;
}

/// The sample of a link is that of the outermost level.
Sample on_last_level(const AcquiredModel& acquired, Sample sample) {
    if (acquired.levels.size() < 2) return sample;
    for (MeasuredMessage& each : sample.messages) each.message.level = acquired.levels.size() - 1;
    for (MeasuredOccupancy& each : sample.occupancy) each.level = acquired.levels.size() - 1;
    return sample;
}

void judge_acquired(ModelFit& fit, const AcquiredModel& acquired, const Sample& sample) {
    std::vector<double> all;
    for (const auto& [bytes, time] : time_by_size(sample.messages)) {
        const Model model = model_of(without(acquired, bytes));
        fit.by_size.push_back({bytes, SizeJudge(fit.kind, model, sample, bytes).error()});
        all.push_back(fit.by_size.back().error);
    }
    fit.error = median_of(std::move(all));
    fit.cross_validated = true; // the sample is not what the parameters were made of
}

/// Among models with like errors.
bool is_cheaper(const ModelFit& one, const ModelFit& other) {
    if (!one.acquired || !other.acquired) return one.acquired && !other.acquired;
    return std::tie(one.cost.seconds, one.cost.messages) < std::tie(other.cost.seconds, other.cost.messages);
}

} // namespace

std::string_view to_string(ModelKind kind) noexcept {
    switch (kind) {
    case ModelKind::hockney:
        return "hockney";
    case ModelKind::logp:
        return "logp";
    case ModelKind::loggp:
        return "loggp";
    case ModelKind::lopc:
        return "lopc";
    case ModelKind::logpc:
        return "logpc";
    case ModelKind::plogp:
        return "plogp";
    case ModelKind::cappello:
        return "cappello";
    case ModelKind::steffenel:
        return "steffenel";
    case ModelKind::lastovetsky:
        return "lastovetsky";
    }
    return "unknown";
}

ModelFit fit(ModelKind kind, const Sample& sample) {
    ModelFit out;
    out.kind = kind;
    try {
        check(sample);
        Parameters found = parameters_of(kind, sample);
        out.model = std::move(found.model);
        out.words = std::move(found.assumed);
        judge(out, sample);
    } catch (const Error& error) {
        out = {};
        out.kind = kind;
        out.words = error.what();
    }
    return out;
}

ModelFit fit(const AcquiredModel& acquired, const Sample& sample) {
    ModelFit out;
    out.words = acquired.words;
    const auto kind = kind_named(acquired.model);
    if (!kind) {
        out.words = fmt::format("{}: no Plexus knows it", acquired.model);
        return out;
    }
    out.kind = *kind;
    if (!acquired.has_parameters()) return out;
    try {
        const Sample of_link = on_last_level(acquired, sample);
        check(of_link);
        out.model = model_of(acquired);
        judge_acquired(out, acquired, of_link);
        out.acquired = true;
        out.cost = acquired.cost;
    } catch (const Error& error) {
        out = {};
        out.kind = *kind;
        out.words = error.what();
    }
    return out;
}

std::vector<ModelFit> fits(const Sample& sample) {
    std::vector<ModelFit> out;
    for (const ModelKind kind : kModelKinds) out.push_back(fit(kind, sample));
    return out;
}

double error_at(const ModelFit& fit, std::uint64_t bytes) noexcept {
    if (fit.by_size.empty()) return fit.error;
    const auto above =
        std::lower_bound(fit.by_size.begin(), fit.by_size.end(), bytes,
                         [](const SizeError& each, std::uint64_t size) { return each.bytes < size; });
    if (above == fit.by_size.end()) return fit.by_size.back().error;
    if (above == fit.by_size.begin() || above->bytes == bytes) return above->error;
    return (above->error + std::prev(above)->error) / 2;
}

std::optional<std::size_t> choose(const std::vector<ModelFit>& among, std::uint64_t bytes) noexcept {
    const bool has_validated = std::any_of(
        among.begin(), among.end(), [](const ModelFit& each) { return each.model && each.cross_validated; });
    const auto counts = [&](const ModelFit& each) {
        return each.model && each.cross_validated == has_validated;
    };
    std::optional<double> least;
    for (const ModelFit& each : among)
        if (counts(each)) least = std::min(least.value_or(error_at(each, bytes)), error_at(each, bytes));
    std::optional<std::size_t> out;
    for (std::size_t place = 0; place < among.size(); ++place)
        if (counts(among[place]) && error_at(among[place], bytes) <= *least + kErrorTie &&
            (!out || is_cheaper(among[place], among[*out])))
            out = place;
    return out;
}

} // namespace plexus::eco
