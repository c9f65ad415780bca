// SPDX-License-Identifier: BSD-3-Clause
#include "pairs.h"

#include <algorithm>
#include <cmath>

namespace dynamics {

// No more cells than atoms: in a thin gas they are larger than the cut-off.
Cells::Cells(double side, std::size_t atoms)
  : side_(side)
  , edge_(static_cast<std::uint32_t>(
        std::min(side / kCutoff, std::max(2.0, std::ceil(std::cbrt(static_cast<double>(atoms)))))))
  , near_(std::size_t{edge_} * edge_ * edge_)
  , atoms_(near_.size()) {
    const auto number = [this](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        return (z % edge_ * edge_ + y % edge_) * edge_ + x % edge_;
    };
    for (std::uint32_t z = 0; z < edge_; ++z)
        for (std::uint32_t y = 0; y < edge_; ++y)
            for (std::uint32_t x = 0; x < edge_; ++x) {
                auto& near = near_[number(x, y, z)];
                for (std::uint32_t dz : {edge_ - 1, 0u, 1u})
                    for (std::uint32_t dy : {edge_ - 1, 0u, 1u})
                        for (std::uint32_t dx : {edge_ - 1, 0u, 1u})
                            near.push_back(number(x + dx, y + dy, z + dz));
                // Of two cells along an edge, left and right are the same.
                std::sort(near.begin(), near.end());
                near.erase(std::unique(near.begin(), near.end()), near.end());
            }
}

void Cells::sort(std::span<const Vector> positions) {
    for (auto& each : atoms_) each.clear();
    cell_of_.resize(positions.size());
    for (std::uint32_t atom = 0; atom < positions.size(); ++atom) {
        cell_of_[atom] = cell_at(positions[atom]);
        atoms_[cell_of_[atom]].push_back(atom);
    }
}

std::uint32_t Cells::cell_at(const Vector& position) const {
    const auto along = [this](double place) {
        return std::min(edge_ - 1, static_cast<std::uint32_t>(place / side_ * edge_));
    };
    return (along(position.z) * edge_ + along(position.y)) * edge_ + along(position.x);
}

} // namespace dynamics
