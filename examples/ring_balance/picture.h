// SPDX-License-Identifier: BSD-3-Clause
// The Mandelbrot set as uneven work that changes: each row keeps the state of its points, and each iteration
// continues from that state. Knows nothing of members or messages. Values; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace balance {

/// z and how many passes it took to leave the circle, or has taken so far.
struct Point {
    double re = 0, im = 0;
    std::uint32_t passes = 0;
    std::uint32_t escaped = 0; ///< 1: nothing more to do
};

struct RowHead {
    std::uint32_t number = 0;
    std::uint32_t iterations = 0; ///< it has been worked on
    std::uint64_t cost = 0;       ///< passes over points in the last of them
};

struct Row {
    RowHead head;
    std::vector<Point> points;
};

class Picture {
  public:
    Picture(std::uint32_t rows, std::uint32_t columns) noexcept
      : rows_(rows)
      , columns_(columns) {}

    Row fresh(std::uint32_t number) const;
    /// One iteration: so many passes over the points that are still in the circle.
    void advance(Row& row, std::uint32_t passes) const;

  private:
    std::uint32_t rows_;
    std::uint32_t columns_;
};

/// Of everything in a row except its cost. Digests of rows are added up, in any order.
std::uint64_t digest(const Row& row);

} // namespace balance
