// SPDX-License-Identifier: BSD-3-Clause
// One context's part in the coupled model: its station, its piece of the atmosphere or the
// ocean, and runs of it under given methods and polling. Every context of the job makes
// the same calls in the same order. Model thread only.
#pragma once

#include "exchange.h"
#include "report.h"

#include <optional>

namespace climate {

class Simulation {
  public:
    /// Meets the others. Throws plexus::Error if that fails.
    Simulation(plexus::Context& here, Jobs& jobs, const Options& options, const Layout& layout);

    /// One run from the first moment on. At context 0, what it came to.
    std::optional<Outcome> run(const Experiment& experiment);

    /// Sends the present temperatures to context 0. There, the picture.
    std::optional<Scene> show();

    /// Returns when all contexts, of both jobs, have called it as often.
    void fence();

  private:
    void step_pair();
    void poll(const Experiment& experiment);
    void poll_everywhere();

    plexus::Context& here_;
    Jobs& jobs_;
    const Options& options_;
    const Layout& layout_;
    Band band_;
    std::optional<Coordinator> coordinator_; // at context 0
    plexus::Bound<Coordinator> bound_;
    Station station_;
    plexus::GlobalPointer<Coordinator> reports_;
    StationHalo halo_;
    Coupler coupler_;
    std::optional<Atmosphere> atmosphere_; // one of both
    std::optional<Ocean> ocean_;
    std::string lane_; // by which the models exchange data in this run
};

} // namespace climate
