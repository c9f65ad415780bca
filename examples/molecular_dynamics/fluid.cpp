// SPDX-License-Identifier: BSD-3-Clause
#include "fluid.h"

#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>

namespace dynamics {
namespace {

/// From -1 to 1. Spelled out, as the standard leaves its distributions to the implementation.
double uniform(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1; }

/// How many cells of four atoms along it hold so many.
std::uint32_t edge_of_crystal(std::uint32_t atoms) {
    std::uint32_t cells = 1;
    while (4 * cells * cells * cells < atoms) ++cells;
    return cells;
}

double wrapped(double place, double way, double side) {
    if (!(std::abs(way) < side)) // neither where it is no number
        throw std::range_error("an atom has crossed the box in one step: take a shorter --time-step");
    place += way;
    place -= side * std::floor(place / side);
    return place < side ? place : 0; // a little below 0 rounds to the side itself
}

} // namespace

double box_side(std::uint32_t atoms, double density) { return std::cbrt(atoms / density); }

std::uint32_t whole_crystal(std::uint32_t atoms) {
    const std::uint32_t cells = edge_of_crystal(atoms);
    return 4 * cells * cells * cells;
}

Fluid make_crystal(std::uint32_t atoms, double density, double temperature, std::uint64_t seed) {
    Fluid fluid;
    fluid.side = box_side(atoms, density);

    const std::uint32_t cells = edge_of_crystal(atoms);
    const double step = fluid.side / cells;
    constexpr Vector kBasis[] = {
        {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
    for (std::uint32_t atom = 0; atom < atoms; ++atom) {
        const std::uint32_t cell = atom / 4;
        const Vector& in = kBasis[atom % 4];
        fluid.positions.push_back({(cell % cells + in.x) * step, (cell / cells % cells + in.y) * step,
                                   (cell / cells / cells + in.z) * step});
    }

    std::mt19937_64 random(seed);
    fluid.velocities.resize(atoms);
    for (Vector& v : fluid.velocities) v = {uniform(random), uniform(random), uniform(random)};
    const Vector total = momentum(fluid.velocities);
    for (Vector& v : fluid.velocities)
        v = {v.x - total.x / atoms, v.y - total.y / atoms, v.z - total.z / atoms};
    const double found = dynamics::temperature(kinetic_energy(fluid.velocities), atoms);
    const double factor = std::sqrt(temperature / found);
    for (Vector& v : fluid.velocities) v = {v.x * factor, v.y * factor, v.z * factor};
    return fluid;
}

Vector momentum(std::span<const Vector> velocities) {
    Vector sum;
    for (const Vector& v : velocities) sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z};
    return sum;
}

double kinetic_energy(std::span<const Vector> velocities) {
    double sum = 0;
    for (const Vector& v : velocities) sum += v.x * v.x + v.y * v.y + v.z * v.z;
    return sum / 2;
}

double temperature(double kinetic_energy, std::size_t atoms) {
    return 2 * kinetic_energy / (3 * (static_cast<double>(atoms) - 1)); // the whole does not move
}

void move(Vector& position, const Vector& way, double side) {
    position = {wrapped(position.x, way.x, side), wrapped(position.y, way.y, side),
                wrapped(position.z, way.z, side)};
}

std::uint64_t digest(std::span<const Vector> vectors) {
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a, by words
    const auto fold = [&](double number) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x100000001b3;
        hash ^= hash >> 32; // or high bits would never reach low ones
    };
    for (const Vector& each : vectors) {
        fold(each.x);
        fold(each.y);
        fold(each.z);
    }
    return hash;
}

} // namespace dynamics
