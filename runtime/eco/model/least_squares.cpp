// SPDX-License-Identifier: BSD-3-Clause
#include "model/least_squares.h"

#include <algorithm>
#include <cmath>

namespace plexus::eco {

std::optional<FittedLine> fit_line(std::span<const LinePoint> points) {
    double weights = 0;
    double mean_x = 0;
    double mean_y = 0;
    for (const LinePoint& point : points) {
        const double weight = 1 / (point.y * point.y);
        weights += weight;
        mean_x += weight * point.x;
        mean_y += weight * point.y;
    }
    if (points.empty()) return std::nullopt;
    mean_x /= weights;
    mean_y /= weights;
    double spread = 0;
    double common = 0;
    for (const LinePoint& point : points) {
        const double weight = 1 / (point.y * point.y);
        spread += weight * (point.x - mean_x) * (point.x - mean_x);
        common += weight * (point.x - mean_x) * (point.y - mean_y);
    }
    const bool all_alike = std::all_of(points.begin(), points.end(),
                                       [&](const LinePoint& point) { return point.x == points.front().x; });
    if (all_alike) return std::nullopt;
    const double slope = common / spread;
    return FittedLine{mean_y - slope * mean_x, slope};
}

double squared_errors(const FittedLine& line, std::span<const LinePoint> points) {
    double out = 0;
    for (const LinePoint& point : points) {
        const double error = (line.start + line.slope * point.x - point.y) / point.y;
        out += error * error;
    }
    return out;
}

LeastSquares::LeastSquares(std::size_t unknowns)
  : unknowns_(unknowns)
  , products_(unknowns * unknowns, 0)
  , values_(unknowns, 0) {}

void LeastSquares::add(std::span<const Term> terms, double value) {
    for (const Term& one : terms) {
        values_[one.unknown] += one.factor * value;
        for (const Term& other : terms)
            if (other.unknown <= one.unknown) at(one.unknown, other.unknown) += one.factor * other.factor;
    }
}

// Cholesky's way, with every column scaled to length 1: what is left of a column then says how far it is
// from a combination of those before it.
std::optional<std::vector<double>> LeastSquares::solve() const {
    constexpr double kLeastPivot = 1e-11;
    std::vector<double> scale(unknowns_);
    for (std::size_t row = 0; row < unknowns_; ++row) {
        scale[row] = std::sqrt(products_[row * unknowns_ + row]);
        if (!(scale[row] > 0)) return std::nullopt;
    }
    std::vector<double> factor(products_.size(), 0);
    std::vector<double> out(unknowns_);
    for (std::size_t row = 0; row < unknowns_; ++row) {
        double* const mine = &factor[row * unknowns_];
        for (std::size_t column = 0; column <= row; ++column) {
            const double* const other = &factor[column * unknowns_];
            double rest = products_[row * unknowns_ + column] / (scale[row] * scale[column]);
            for (std::size_t place = 0; place < column; ++place) rest -= mine[place] * other[place];
            if (column < row)
                mine[column] = rest / other[column];
            else if (rest > kLeastPivot)
                mine[row] = std::sqrt(rest);
            else
                return std::nullopt;
        }
        out[row] = values_[row] / scale[row];
        for (std::size_t place = 0; place < row; ++place) out[row] -= mine[place] * out[place];
        out[row] /= mine[row];
    }
    for (std::size_t row = unknowns_; row-- > 0;) {
        for (std::size_t place = row + 1; place < unknowns_; ++place)
            out[row] -= factor[place * unknowns_ + row] * out[place];
        out[row] /= factor[row * unknowns_ + row];
    }
    for (std::size_t row = 0; row < unknowns_; ++row) out[row] /= scale[row];
    return out;
}

} // namespace plexus::eco
