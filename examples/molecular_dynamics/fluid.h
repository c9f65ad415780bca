// SPDX-License-Identifier: BSD-3-Clause
// The fluid: positions and velocities of atoms in a periodic cube, in Lennard-Jones units. Knows nothing
// of forces nor of members. Values; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dynamics {

inline constexpr std::uint32_t kMostAtoms = 500'000; ///< a whole crystal

struct Vector {
    double x = 0, y = 0, z = 0;
};

struct Fluid {
    double side = 0; ///< of the cube; positions are from 0 up to it
    std::vector<Vector> positions;
    std::vector<Vector> velocities;
};

double box_side(std::uint32_t atoms, double density);
/// Of so many atoms or a few more: 108, 256, 500, 864 …
std::uint32_t whole_crystal(std::uint32_t atoms);
/// A whole face-centred cubic crystal whose atoms move at random, at rest as a whole.
Fluid make_crystal(std::uint32_t atoms, double density, double temperature, std::uint64_t seed);

Vector momentum(std::span<const Vector> velocities);
double kinetic_energy(std::span<const Vector> velocities);
double temperature(double kinetic_energy, std::size_t atoms);

/// Moves `position` by `way`, wrapped into the cube. Throws std::range_error if the way is longer than the
/// cube.
void move(Vector& position, const Vector& way, double side);

/// Of the bits of every number, in the order of atoms.
std::uint64_t digest(std::span<const Vector> vectors);

} // namespace dynamics
