// SPDX-License-Identifier: BSD-3-Clause
// Which atoms can be near each other: the cube in cells no smaller than the cut-off (linked
// cells; Allen and Tildesley, Computer Simulation of Liquids, 5.3). Any thread, one at a time.
#pragma once

#include "fluid.h"

#include <span>
#include <vector>

namespace dynamics {

inline constexpr double kCutoff = 2.5; ///< beyond it there is no force

class Cells {
  public:
    /// `side` is at least twice the cut-off.
    Cells(double side, std::size_t atoms);

    void sort(std::span<const Vector> positions);

    /// Calls `use(other)` for every atom of a greater number in reach of `atom`, and for some
    /// out of it. The order depends on the positions alone.
    template <class Use>
    void each_after(std::uint32_t atom, Use use) const {
        for (const std::uint32_t cell : near_[cell_of_[atom]])
            for (const std::uint32_t other : atoms_[cell])
                if (other > atom) use(other);
    }

  private:
    std::uint32_t cell_at(const Vector& position) const;

    double side_;
    std::uint32_t edge_; ///< cells along it
    std::vector<std::vector<std::uint32_t>> near_;
    std::vector<std::vector<std::uint32_t>> atoms_;
    std::vector<std::uint32_t> cell_of_;
};

} // namespace dynamics
