// SPDX-License-Identifier: BSD-3-Clause
#include "forces.h"

#include <algorithm>

namespace dynamics {
namespace {

// The potential 4 (r^-12 - r^-6), with force and energy shifted so that both are 0 at the
// cut-off: else every atom that crosses it would change the energy (Toxvaerd and Dyre, Journal
// of Chemical Physics 134, 2011).
const double kCutoff6 = 1 / std::pow(kCutoff, 6);
const double kSlopeThere = -24 * (2 * kCutoff6 * kCutoff6 - kCutoff6) / kCutoff;
const double kEnergyThere = 4 * (kCutoff6 * kCutoff6 - kCutoff6);

/// The shortest of the ways between an atom and the images of another.
double shortest(double way, double side) {
    if (way > side / 2) return way - side;
    if (way < -side / 2) return way + side;
    return way;
}

} // namespace

template <class Sum>
Forces<Sum>::Forces(std::size_t atoms, double side)
  : side_(side)
  , cells_(side, atoms)
  , numbers_(3 * atoms + 1) {}

template <class Sum>
void Forces<Sum>::compute(std::span<const Vector> positions, std::uint32_t first, std::uint32_t stride) {
    std::fill(numbers_.begin(), numbers_.end(), Number{});
    cells_.sort(positions);
    for (std::uint32_t atom = first; atom < positions.size(); atom += stride) {
        const Vector at = positions[atom];
        Number* const here = &numbers_[3 * std::size_t{atom}];
        cells_.each_after(atom, [&](std::uint32_t other) {
            const double x = shortest(at.x - positions[other].x, side_);
            const double y = shortest(at.y - positions[other].y, side_);
            const double z = shortest(at.z - positions[other].z, side_);
            const double square = x * x + y * y + z * z;
            if (square >= kCutoff * kCutoff) return;
            const double r = std::sqrt(square);
            const double r6 = 1 / (square * square * square);
            const double force = (24 * (2 * r6 * r6 - r6) / r + kSlopeThere) / r; // for each unit of the way
            const double energy = 4 * (r6 * r6 - r6) - kEnergyThere - (r - kCutoff) * kSlopeThere;
            const Number parts[] = {Sum::from(force * x), Sum::from(force * y), Sum::from(force * z)};
            Number* const there = &numbers_[3 * std::size_t{other}];
            for (int k = 0; k < 3; ++k) {
                here[k] += parts[k];
                there[k] -= parts[k];
            }
            numbers_.back() += Sum::from(energy);
        });
    }
}

template class Forces<Doubles>;
template class Forces<Fixed>;

} // namespace dynamics
