// SPDX-License-Identifier: BSD-3-Clause
// The ocean's mixed layer: its temperature, carried by currents that do not cross coasts and mixed by the
// wind, in flux form, Runge-Kutta of third order. Finer than the atmosphere by a whole ratio; values
// that pass between the models are averaged or distributed without a remainder. Knows its own band of
// rows and a Halo; nothing of messages. One thread.
#pragma once

#include "budget.h"
#include "field.h"
#include "planet.h"

#include <array>
#include <span>
#include <vector>

namespace climate {

class Ocean {
  public:
    /// `ratio` cells of this grid lie side by side in one of the atmosphere's; the band's
    /// first and last rows are aligned to it.
    Ocean(const Grid& grid, const Band& band, int ratio, const std::vector<unsigned char>& sea, double dt);

    void reset(Halo& halo);
    void step(Halo& halo);

    /// Mean temperature of the water in each of the atmosphere's cells, K; 0 where all is land.
    std::span<const double> surface();
    /// Takes fluxes as Atmosphere::fluxes() gives them, for the same cells.
    void meet(std::span<const double> fluxes);

    RowBudget budget(int row) const;
    std::vector<double> temperature() const;

  private:
    bool sea(int row, int column) const noexcept { return wet_.row(row)[column] > 0; }
    void settle(Field& field, Halo& halo);
    void steer();
    void advance(const Field& old, double keep, const Field& from, double add, Field& next);
    void exchange_heat();

    Grid grid_;
    Band band_;
    int ratio_;
    double dt_;
    double time_ = 0; // s
    Field wet_;       // 1 for water, 0 for land
    Field now_, first_, second_;
    // Currents through the western and southern faces, m/s: the steady part and two patterns of eddies; then
    // their sum from steer(), and the transports.
    std::array<Field, 3> east_parts_, north_parts_;
    Field east_, north_, heat_east_, heat_north_;
    Field wind_;
    std::vector<double> surface_, flux_;
    std::vector<RowBudget> books_;
};

} // namespace climate
