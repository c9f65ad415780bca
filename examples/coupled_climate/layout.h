// SPDX-License-Identifier: BSD-3-Clause
// Which contexts are the atmosphere and which the ocean, which rows each context has, and which bands
// of the two models overlap. Pure functions of the job's size and the options: every context computes
// the same result.
#pragma once

#include "field.h"
#include "planet.h"

#include <string>
#include <vector>

namespace climate {

enum class Model { atmosphere, ocean };

/// Rows of the atmosphere's grid where one of its bands and one of the ocean's overlap.
struct Shore {
    int member = 0; ///< number in the other partition
    int first = 0;  ///< row of the atmosphere's grid, counted from our own first
    int theirs = 0; ///< the same row, counted from their first
    int rows = 0;
};

class Layout {
  public:
    /// Contexts 0 .. atmospheres - 1 are the atmosphere. Throws std::invalid_argument with a
    /// sentence if a band would be thinner than a halo.
    Layout(int contexts, int atmospheres, const Grid& atmosphere, int ratio);

    /// Two in three, at least one, at most all but one.
    static int usual_atmospheres(int contexts) noexcept;

    int contexts() const noexcept { return atmospheres_ + oceans_; }
    int members(Model model) const noexcept { return model == Model::atmosphere ? atmospheres_ : oceans_; }
    Model model(int rank) const noexcept { return rank < atmospheres_ ? Model::atmosphere : Model::ocean; }
    int number(int rank) const noexcept { return rank < atmospheres_ ? rank : rank - atmospheres_; }
    /// "ocean.1": the name a member is published under.
    static std::string name(Model model, int number);

    const Grid& grid(Model model) const noexcept { return model == Model::atmosphere ? atmosphere_ : ocean_; }
    int ratio() const noexcept { return ratio_; }
    /// In rows of the model's own grid.
    Band band(Model model, int number) const noexcept;
    std::vector<Shore> shores(Model model, int number) const;
    /// Part of each cell of the atmosphere's band that is water.
    std::vector<double> sea_parts(const Band& band, const std::vector<unsigned char>& sea) const;

  private:
    /// In rows of the atmosphere's grid.
    Band coarse_band(Model model, int number) const noexcept;

    int atmospheres_;
    int oceans_;
    int ratio_;
    Grid atmosphere_;
    Grid ocean_;
};

} // namespace climate
