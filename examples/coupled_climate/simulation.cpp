// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.h"

#include <chrono>

namespace climate {
namespace {

constexpr const char* kCoordinator = "climate.coordinator";

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

Simulation::Simulation(plexus::Context& here, Jobs& jobs, const Options& options, const Layout& layout)
  : here_(here)
  , jobs_(jobs)
  , options_(options)
  , layout_(layout)
  , station_(here, jobs, options, layout)
  , halo_(station_)
  , coupler_(station_, layout) {
    band_ = layout.band(station_.model(), station_.number());
    if (jobs.rank() == 0) {
        coordinator_.emplace(layout);
        here.on(report, [](Coordinator& to, const RunSummary& summary, std::span<const RowBudget> rows) {
            to.add(summary, rows);
        });
        here.on(climate::show, [](Coordinator& to, bool sea, std::uint32_t first_row,
                                  std::span<const double> rows) { to.add_rows(sea, first_row, rows); });
        bound_ = here.bind(*coordinator_);
        here.publish(kCoordinator, bound_.pointer());
    }
    jobs.carry<Coordinator>(kCoordinator, Model::atmosphere);
    reports_ = here.lookup<Coordinator>(kCoordinator).get();
    if (station_.model() == Model::ocean && options.between != "auto") reports_.use(options.between);

    const std::vector<unsigned char> sea = sea_mask(layout.grid(Model::ocean));
    const double dt = Atmosphere::time_step(options.grid);
    if (station_.model() == Model::atmosphere)
        atmosphere_.emplace(layout.grid(Model::atmosphere), band_, layout.sea_parts(band_, sea));
    else
        ocean_.emplace(layout.grid(Model::ocean), band_, layout.ratio(), sea, 2 * dt);
}

std::optional<Outcome> Simulation::run(const Experiment& experiment) {
    station_.connect(experiment.tcp_only);
    fence(); // connections are made while all methods are polled everywhere
    jobs_.say_joined();
    lane_ = station_.lane_between();
    poll(experiment);

    if (atmosphere_)
        atmosphere_->reset(halo_);
    else
        ocean_->reset(halo_);
    // The first two steps bring everybody together and are not timed.
    step_pair();
    station_.spent = {};
    const double start = seconds_now();
    for (int step = 2; step < options_.steps; step += 2) step_pair();
    const double seconds = seconds_now() - start;

    poll_everywhere();
    std::vector<RowBudget> rows;
    for (int j = 0; j < band_.rows; ++j)
        rows.push_back(atmosphere_ ? atmosphere_->budget(j) : ocean_->budget(j));
    reports_.send(report,
                  RunSummary{static_cast<std::uint32_t>(jobs_.rank()), seconds, station_.spent.inside,
                             station_.spent.between, station_.methods()},
                  rows);
    if (!coordinator_) return std::nullopt;
    station_.wait([&] { return coordinator_->complete(); });
    return coordinator_->outcome(std::max(options_.steps - 2, 1));
}

void Simulation::step_pair() {
    if (atmosphere_) {
        coupler_.meet(*atmosphere_);
        atmosphere_->step(halo_);
        atmosphere_->step(halo_);
    } else {
        coupler_.meet(*ocean_);
        ocean_->step(halo_);
    }
}

void Simulation::poll(const Experiment& experiment) {
    const bool selective = experiment.polling == Experiment::Polling::selective;
    coupler_.poll_here_only(selective ? lane_ : std::string());
    if (selective) here_.confine(lane_);
    if (experiment.polling == Experiment::Polling::skip) here_.skip_poll(lane_, experiment.skip);
}

void Simulation::poll_everywhere() {
    here_.confine(lane_, false);
    here_.skip_poll(lane_, std::nullopt);
}

std::optional<Scene> Simulation::show() {
    const std::vector<double> temperatures = atmosphere_ ? atmosphere_->temperature() : ocean_->temperature();
    reports_.send(climate::show, ocean_.has_value(), static_cast<std::uint32_t>(band_.first), temperatures);
    if (!coordinator_) return std::nullopt;
    station_.wait([&] { return coordinator_->drawn(); });
    Scene scene = coordinator_->scene();
    scene.days = options_.steps * Atmosphere::time_step(options_.grid) / 86400;
    scene.note = std::to_string(layout_.members(Model::atmosphere)) + " + " +
                 std::to_string(layout_.members(Model::ocean)) + " contexts";
    return scene;
}

void Simulation::fence() {
    here_.fence().get();
    if (!jobs_.two()) return;
    if (here_.rank() == 0) {
        jobs_.announce_fence();
        station_.wait([&] { return jobs_.fence_reached(); });
    }
    here_.fence().get();
}

} // namespace climate
