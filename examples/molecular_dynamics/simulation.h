// SPDX-License-Identifier: BSD-3-Clause
// One member's part in the run: the CHARMM pattern of the ECO paper (section 6.2). Every member
// has all positions; each moves a run of atoms and computes a share of the pairs. A step is an
// all_gather of positions and an all_reduce of forces. Every member makes the same calls.
#pragma once

#include "forces.h"
#include "options.h"

#include <plexus/eco/group.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace dynamics {

/// Of the whole fluid at one moment.
struct State {
    double potential = 0, kinetic = 0, temperature = 0;
    double momentum = 0; ///< its length

    double energy() const noexcept { return potential + kinetic; }
};

template <class Sum>
class Simulation {
  public:
    /// Member 0 makes the crystal, for all. @error those of Group (thrown)
    Simulation(const plexus::eco::Group& all, const Options& options);

    /// One of velocity Verlet.
    void step();
    /// Gathers what it takes: not part of a step, and not of its times.
    State state();
    /// Spent in the two operations of all steps so far, waiting for others included.
    std::chrono::duration<double> communication() const noexcept { return communication_; }
    /// Of positions and velocities, after state(). @error runtime_error members have other positions
    ///                                                    than member 0 (thrown)
    std::uint64_t digest() const;

  private:
    using Number = typename Sum::Number;

    void push();
    void gather_positions();
    void add_forces();

    plexus::eco::Group all_;
    plexus::eco::Group by_pattern_;
    std::vector<std::uint64_t> counts_; // of atoms that each member moves
    std::size_t first_ = 0;             // of mine
    std::size_t last_ = 0;
    double time_step_;
    Fluid fluid_; // velocities: of mine alone, after state() of all
    Forces<Sum> forces_;
    std::chrono::duration<double> communication_{0};
};

} // namespace dynamics
