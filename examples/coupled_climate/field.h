// SPDX-License-Identifier: BSD-3-Clause
// A band of rows of a grid that is periodic in x, with a halo two cells wide on every side.
// Rows are contiguous, halo columns included, so that two of them travel as one span.
// Plain memory; not synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace climate {

/// The rows [first, first + rows) of a grid of `total` rows. Row 0 is the southernmost.
struct Band {
    int first = 0;
    int rows = 0;
    int total = 0;

    bool at_south_wall() const noexcept { return first == 0; }
    bool at_north_wall() const noexcept { return first + rows == total; }
};

class Field {
  public:
    static constexpr int kHalo = 2;

    Field(int columns, int rows)
      : columns_(columns)
      , rows_(rows)
      , stride_(columns + 2 * kHalo)
      , cells_(static_cast<std::size_t>(stride_) * static_cast<std::size_t>(rows + 2 * kHalo)) {}

    int columns() const noexcept { return columns_; }
    int rows() const noexcept { return rows_; }

    /// Row j of -2 .. rows() + 1; its elements go from -2 to columns() + 1.
    double* row(int j) noexcept { return cells_.data() + offset(j) + kHalo; }
    const double* row(int j) const noexcept { return cells_.data() + offset(j) + kHalo; }

    /// `count` rows from `first` on as they lie in memory, halo columns included.
    std::span<double> lines(int first, int count) noexcept {
        return {cells_.data() + offset(first), static_cast<std::size_t>(stride_ * count)};
    }

    /// Makes rows [first, end) periodic: fills their halo columns.
    void wrap(int first, int end) noexcept {
        for (int j = first; j < end; ++j) {
            double* const cell = row(j);
            for (int i = 0; i < kHalo; ++i) {
                cell[i - kHalo] = cell[columns_ + i - kHalo];
                cell[columns_ + i] = cell[i];
            }
        }
    }

    /// The rows beyond a wall in the south or north: the mirror image of the rows before the wall.
    void mirror(const Band& band) noexcept {
        for (int k = 0; k < kHalo; ++k) {
            if (band.at_south_wall()) copy(k, -1 - k);
            if (band.at_north_wall()) copy(rows_ - 1 - k, rows_ + k);
        }
    }

  private:
    std::ptrdiff_t offset(int j) const noexcept { return std::ptrdiff_t{j + kHalo} * stride_; }
    void copy(int from, int to) noexcept { std::ranges::copy(lines(from, 1), lines(to, 1).begin()); }

    int columns_;
    int rows_;
    int stride_;
    std::vector<double> cells_;
};

/// Fills the halo rows of several fields from the neighbouring bands; rows beyond a wall are not changed.
/// Returns when all rows have arrived.
class Halo {
  public:
    virtual ~Halo() = default;
    virtual void exchange(std::span<Field* const> fields) = 0;
};

} // namespace climate
