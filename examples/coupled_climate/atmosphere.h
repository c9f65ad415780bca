// SPDX-License-Identifier: BSD-3-Clause
// The atmosphere: rotating shallow water on a C-grid in a periodic channel, carrying heat.
// Mass and heat move in flux form, momentum keeps energy (Sadourny 1975); time steps are
// Runge-Kutta of third order. Knows its own band of rows and a Halo; nothing of messages.
// One thread.
#pragma once

#include "budget.h"
#include "field.h"
#include "planet.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace climate {

class Atmosphere {
  public:
    /// `sea` is the part of each cell that is water, the band's rows only.
    Atmosphere(const Grid& grid, const Band& band, std::vector<double> sea);

    /// The longest stable step, with a margin, in seconds.
    static double time_step(const Grid& grid);

    /// Back to the first moment, balanced jets with a storm track.
    void reset(Halo& halo);
    void step(Halo& halo);

    /// Takes the sea's surface temperatures (K, one for each cell) and computes the fluxes out of the sea
    /// from now on: fluxes() is, row by row, the heat flux (W/m2 of water) and the wind speed (m/s) of each
    /// cell.
    void meet(std::span<const double> sea_temperature);
    std::span<const double> fluxes() const noexcept { return fluxes_; }
    std::size_t flux_row_size() const noexcept { return 2 * static_cast<std::size_t>(grid_.columns); }

    RowBudget budget(int row) const;
    /// Temperature of the air, K, the band's rows one after the other.
    std::vector<double> temperature() const;

  private:
    struct State {
        Field depth, east, north, heat; // east and north live on the western and southern faces
        State(int columns, int rows)
          : depth(columns, rows)
          , east(columns, rows)
          , north(columns, rows)
          , heat(columns, rows) {}
        std::array<Field*, 4> all() noexcept { return {&depth, &east, &north, &heat}; }
    };
    void settle(State& state, Halo& halo);
    void derive(const State& state);
    /// next = keep * old + add * (from + dt * tendency(from))
    void advance(const State& old, double keep, const State& from, double add, State& next);
    void exchange_heat();

    Grid grid_;
    Band band_;
    double dt_;
    std::vector<double> sea_;
    State now_, first_, second_;
    // The results of derive(): transports and potential vorticity, on faces and corners.
    Field flow_east_, flow_north_, spin_, pressure_, temperature_, heat_east_, heat_north_;
    std::vector<double> fluxes_;
    std::vector<RowBudget> books_;
};

} // namespace climate
