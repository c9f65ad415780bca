// SPDX-License-Identifier: BSD-3-Clause
// Forces between the pairs of a share, as numbers that members can add up: plain doubles, or
// whole numbers, whose sum does not depend on any order. Thread: one at a time.
#pragma once

#include "pairs.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace dynamics {

/// Sums depend on the order of adding, in their last digits.
struct Doubles {
    using Number = double;
    static Number from(double value) { return value; }
    static double value(Number number) { return number; }
};

/// Whole numbers of 2^-40, as Amber sums its forces (Le Grand, Götz and Walker, Computer Physics
/// Communications 184, 2013): from -2^23 to 2^23, and every order of adding gives the same.
struct Fixed {
    using Number = std::int64_t;
    static constexpr double kUnit = 0x1p-40;
    static constexpr double kMost = 0x1p13; ///< of one pair: an atom has less than 2^10 neighbours
    static Number from(double value) {
        if (!(std::abs(value) < kMost))
            throw std::range_error("two atoms have come too near to each other: take a shorter --time-step");
        return std::llrint(value / kUnit);
    }
    static double value(Number number) { return static_cast<double>(number) * kUnit; }
};

template <class Sum>
class Forces {
  public:
    using Number = typename Sum::Number;

    Forces(std::size_t atoms, double side);

    /// Of the pairs whose first atom is `first`, `first` + `stride` …: shares that are even also
    /// where the fluid is not. Nothing else is in the numbers then.
    void compute(std::span<const Vector> positions, std::uint32_t first, std::uint32_t stride);

    /// Three an atom, then the potential energy: to be added up over all shares.
    std::span<Number> numbers() noexcept { return numbers_; }

    Vector on(std::size_t atom) const {
        const Number* const at = &numbers_[3 * atom];
        return {Sum::value(at[0]), Sum::value(at[1]), Sum::value(at[2])};
    }
    double energy() const { return Sum::value(numbers_.back()); }

  private:
    double side_;
    Cells cells_;
    std::vector<Number> numbers_;
};

} // namespace dynamics
