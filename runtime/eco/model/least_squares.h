// SPDX-License-Identifier: BSD-3-Clause
// Linear fits. Pure. Any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace plexus::eco {

/// y = start + slope * x.
struct FittedLine {
    double start = 0;
    double slope = 0;
};

struct LinePoint {
    double x = 0;
    double y = 0; ///< above 0
};

/// The line with the least sum of squared relative errors. Nothing: fewer than two different x.
std::optional<FittedLine> fit_line(std::span<const LinePoint> points);

/// That sum.
double squared_errors(const FittedLine& line, std::span<const LinePoint> points);

/// A factor of one unknown in one equation.
struct Term {
    std::size_t unknown;
    double factor;
};

/// The least squares of many equations in few unknowns, of which each equation has only some.
class LeastSquares {
  public:
    explicit LeastSquares(std::size_t unknowns);

    /// The terms add up to `value`. Each unknown stands at most once among them.
    void add(std::span<const Term> terms, double value);
    /// Nothing: the equations do not tell the unknowns apart.
    std::optional<std::vector<double>> solve() const;

  private:
    double& at(std::size_t row, std::size_t column) { return products_[row * unknowns_ + column]; }

    std::size_t unknowns_;
    std::vector<double> products_; // the lower triangle, diagonal included
    std::vector<double> values_;
};

} // namespace plexus::eco
