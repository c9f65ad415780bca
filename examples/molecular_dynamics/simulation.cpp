// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.h"

#include <functional>
#include <stdexcept>
#include <string>

namespace dynamics {
namespace {

namespace eco = plexus::eco;
using Clock = std::chrono::steady_clock;

Fluid shared_crystal(const eco::Group& all, const Options& options) {
    Fluid fluid;
    if (all.rank() == 0)
        fluid = make_crystal(options.atoms, options.density, options.temperature, options.seed);
    fluid.side = box_side(options.atoms, options.density);
    fluid.positions.resize(options.atoms);
    fluid.velocities.resize(options.atoms);
    all.broadcast(std::span(fluid.positions));
    all.broadcast(std::span(fluid.velocities));
    return fluid;
}

} // namespace

template <class Sum>
Simulation<Sum>::Simulation(const eco::Group& all, const Options& options)
  : all_(all)
  , by_pattern_(all.with(options.algorithm))
  , time_step_(options.time_step)
  , fluid_(shared_crystal(all, options))
  , forces_(options.atoms, fluid_.side) {
    for (eco::Rank rank = 0; rank < all.size(); ++rank) {
        if (rank == all.rank()) first_ = last_;
        counts_.push_back(options.atoms / all.size() + (rank < options.atoms % all.size() ? 1 : 0));
        if (rank <= all.rank()) last_ += counts_.back();
    }
    gather_positions(); // everyone has them, but now the way is planned and connections are open
    add_forces();
    communication_ = {};
}

/// Half a step of acceleration.
template <class Sum>
void Simulation<Sum>::push() {
    for (std::size_t atom = first_; atom < last_; ++atom) {
        const Vector force = forces_.on(atom);
        Vector& v = fluid_.velocities[atom];
        const double half = time_step_ / 2;
        v = {v.x + half * force.x, v.y + half * force.y, v.z + half * force.z};
    }
}

template <class Sum>
void Simulation<Sum>::gather_positions() {
    const auto begin = Clock::now();
    by_pattern_.all_gather_v(std::span(fluid_.positions), {counts_});
    communication_ += Clock::now() - begin;
}

template <class Sum>
void Simulation<Sum>::add_forces() {
    forces_.compute(fluid_.positions, all_.rank(), all_.size());
    const auto begin = Clock::now();
    by_pattern_.all_reduce(forces_.numbers(), std::plus<Number>{});
    communication_ += Clock::now() - begin;
}

template <class Sum>
void Simulation<Sum>::step() {
    push();
    for (std::size_t atom = first_; atom < last_; ++atom) {
        const Vector& v = fluid_.velocities[atom];
        move(fluid_.positions[atom], {v.x * time_step_, v.y * time_step_, v.z * time_step_}, fluid_.side);
    }
    gather_positions();
    add_forces();
    push();
}

template <class Sum>
State Simulation<Sum>::state() {
    all_.all_gather_v(std::span(fluid_.velocities), {counts_});
    State state;
    state.potential = forces_.energy();
    state.kinetic = kinetic_energy(fluid_.velocities);
    state.temperature = temperature(state.kinetic, fluid_.velocities.size());
    const Vector sum = momentum(fluid_.velocities);
    state.momentum = std::sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z);
    return state;
}

template <class Sum>
std::uint64_t Simulation<Sum>::digest() const {
    const std::uint64_t mine = dynamics::digest(fluid_.positions);
    const std::vector<std::uint64_t> found = all_.all_gather(mine);
    for (std::size_t rank = 0; rank < found.size(); ++rank)
        if (found[rank] != found[0])
            throw std::runtime_error("member " + std::to_string(rank) + " has other positions than member 0");
    return mine ^ (dynamics::digest(fluid_.velocities) * 3);
}

template class Simulation<Doubles>;
template class Simulation<Fixed>;

} // namespace dynamics
