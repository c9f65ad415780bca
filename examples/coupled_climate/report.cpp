// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include "atmosphere.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace climate {
namespace {

/// A model's budget, rows summed from south to north.
struct Totals {
    RowBudget sum;

    void add(const RowBudget& row) {
        sum.mass_first += row.mass_first;
        sum.mass_now += row.mass_now;
        sum.heat_first += row.heat_first;
        sum.heat_now += row.heat_now;
        sum.sun += row.sun;
        sum.space += row.space;
        sum.sea_to_air += row.sea_to_air;
    }
    /// The change of the content minus the flow through the surface.
    double heat_drift(double sign) const {
        return (sum.heat_now - sum.heat_first - (sum.sun - sum.space + sign * sum.sea_to_air)) /
               sum.heat_first;
    }
};

std::string milliseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f ms", seconds * 1e3);
    return text;
}

/// "shm x 6" for "shm shm ..." of all contexts.
std::string counted(const std::vector<std::string>& methods, bool between) {
    std::map<std::string, int> counts;
    for (const std::string& each : methods) {
        const std::size_t comma = each.find(", ");
        std::string words = between ? each.substr(comma + 2) : each.substr(0, comma);
        for (std::size_t start = 0; start < words.size();) {
            const std::size_t end = std::min(words.find(' ', start), words.size());
            ++counts[words.substr(start, end - start)];
            start = end + 1;
        }
    }
    std::string text;
    for (const auto& [method, count] : counts)
        text += (text.empty() ? "" : ", ") + method + " x " + std::to_string(count);
    return text.empty() ? "nobody to talk to" : text;
}

} // namespace

Coordinator::Coordinator(const Layout& layout)
  : layout_(layout)
  , entries_(static_cast<std::size_t>(layout.contexts())) {
    const auto cells = [&](Model model) {
        const Grid& grid = layout.grid(model);
        return static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(grid.rows);
    };
    air_.resize(cells(Model::atmosphere));
    sea_.resize(cells(Model::ocean));
    missing_ = air_.size() + sea_.size();
}

void Coordinator::add(RunSummary summary, std::span<const RowBudget> rows) {
    const std::lock_guard hold(mutex_);
    Entry& entry = entries_.at(summary.rank);
    entry.summary = std::move(summary);
    entry.rows.assign(rows.begin(), rows.end());
    ++reported_;
}

void Coordinator::add_rows(bool of_the_sea, std::uint32_t first_row, std::span<const double> temperatures) {
    const std::lock_guard hold(mutex_);
    std::vector<double>& field = of_the_sea ? sea_ : air_;
    const auto columns =
        static_cast<std::size_t>(layout_.grid(of_the_sea ? Model::ocean : Model::atmosphere).columns);
    const std::size_t first = first_row * columns;
    if (first > field.size() || temperatures.size() > field.size() - first)
        throw std::out_of_range("rows for the picture lie outside of the grid");
    std::ranges::copy(temperatures, field.begin() + static_cast<std::ptrdiff_t>(first));
    missing_ -= std::min(missing_, temperatures.size());
}

bool Coordinator::complete() const {
    const std::lock_guard hold(mutex_);
    return reported_ == entries_.size();
}

bool Coordinator::drawn() const {
    const std::lock_guard hold(mutex_);
    return missing_ == 0;
}

Outcome Coordinator::outcome(int steps) {
    const std::lock_guard hold(mutex_);
    Outcome outcome;
    Totals air, sea;
    const auto share = 1.0 / (steps * static_cast<double>(entries_.size()));
    // Contexts are in order of rows within each model, so this is from south to north.
    for (const Entry& entry : entries_) {
        const RunSummary& summary = entry.summary;
        outcome.step = std::max(outcome.step, summary.seconds / steps);
        outcome.inside_mean += summary.inside * share;
        outcome.inside_most = std::max(outcome.inside_most, summary.inside / steps);
        outcome.between_mean += summary.between * share;
        outcome.between_most = std::max(outcome.between_most, summary.between / steps);
        outcome.methods.push_back(summary.methods);
        Totals& totals = layout_.model(static_cast<int>(summary.rank)) == Model::atmosphere ? air : sea;
        for (const RowBudget& row : entry.rows) {
            totals.add(row);
            outcome.checksum = fold(outcome.checksum, row.digest);
        }
    }
    outcome.mass_drift = (air.sum.mass_now - air.sum.mass_first) / air.sum.mass_first;
    outcome.air_drift = air.heat_drift(1);
    outcome.sea_drift = sea.heat_drift(-1);
    outcome.exchange_drift =
        (air.sum.sea_to_air - sea.sum.sea_to_air) / std::max(std::abs(air.sum.sea_to_air), 1.0);
    reported_ = 0;
    return outcome;
}

Scene Coordinator::scene() const {
    const std::lock_guard hold(mutex_);
    return {layout_.grid(Model::atmosphere), air_, layout_.grid(Model::ocean), sea_, 0, {}};
}

void print(const Options& options, const Layout& layout, const Experiment& experiment,
           const Outcome& outcome) {
    const auto line = [](const char* what, const std::string& text) {
        std::printf("%-14s %s\n", what, text.c_str());
    };
    const auto cells = [&](Model model) {
        const Grid& grid = layout.grid(model);
        return std::to_string(layout.members(model)) +
               (layout.members(model) == 1 ? " context, " : " contexts, ") + std::to_string(grid.columns) +
               " x " + std::to_string(grid.rows) + " cells";
    };
    char text[200];
    line("atmosphere", cells(Model::atmosphere));
    line("ocean", cells(Model::ocean));
    line("inside", counted(outcome.methods, false));
    line("between", counted(outcome.methods, true));
    line("polling", experiment.name);
    std::snprintf(text, sizeof text, "%d, %.1f days", options.steps,
                  options.steps * Atmosphere::time_step(options.grid) / 86400);
    line("steps", text);
    line("time", milliseconds(outcome.step) + " a step");
    line("of that inside", milliseconds(outcome.inside_mean) + " on average, " +
                               milliseconds(outcome.inside_most) + " at most");
    line("and between", milliseconds(outcome.between_mean) + " on average, " +
                            milliseconds(outcome.between_most) + " at most");
    std::snprintf(text, sizeof text, "mass %.1e, heat of the air %.1e, of the sea %.1e, exchanged %.1e",
                  outcome.mass_drift, outcome.air_drift, outcome.sea_drift, outcome.exchange_drift);
    line("drift", text);
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(outcome.checksum));
    line("checksum", text);
}

} // namespace climate
