// SPDX-License-Identifier: BSD-3-Clause
#include "picture.h"

#include <bit>

namespace balance {

Row Picture::fresh(std::uint32_t number) const { return {{number, 0, 0}, std::vector<Point>(columns_)}; }

void Picture::advance(Row& row, std::uint32_t passes) const {
    row.head.cost = 0;
    const double im = (row.head.number + 0.5) / rows_ * 2.4 - 1.2;
    for (std::uint32_t column = 0; column < columns_; ++column) {
        Point& z = row.points[column];
        if (z.escaped != 0) continue;
        const double re = (column + 0.5) / columns_ * 3.0 - 2.1;
        std::uint32_t done = 0;
        while (done < passes && z.escaped == 0) {
            const double next = z.re * z.re - z.im * z.im + re;
            z.im = 2 * z.re * z.im + im;
            z.re = next;
            z.escaped = z.re * z.re + z.im * z.im > 4 ? 1 : 0;
            ++done;
        }
        z.passes += done;
        row.head.cost += done;
    }
    ++row.head.iterations;
}

std::uint64_t digest(const Row& row) {
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a, by words
    const auto fold = [&](std::uint64_t word) {
        hash = (hash ^ word) * 0x100000001b3;
        hash ^= hash >> 32; // or high bits would never reach low ones
    };
    fold(row.head.number);
    fold(row.head.iterations);
    for (const Point& each : row.points) {
        fold(std::bit_cast<std::uint64_t>(each.re));
        fold(std::bit_cast<std::uint64_t>(each.im));
        fold(each.passes);
        fold(each.escaped);
    }
    return hash;
}

} // namespace balance
