// SPDX-License-Identifier: BSD-3-Clause
// The budget of one row of a model: mass and heat at the start and now, and every joule that crossed the
// surface. Rows are summed from south to north, whichever context owned them, so that totals do not
// depend on the number of contexts. Plain data.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace climate {

struct RowBudget {
    double mass_first = 0; // m3: depth times area
    double mass_now = 0;
    double heat_first = 0; // J
    double heat_now = 0;
    double sun = 0;           // J taken from the sun
    double space = 0;         // J lost to space
    double sea_to_air = 0;    // J, as this model counted them
    std::uint64_t digest = 0; // of the exact bits of the final fields
};

/// Folds 64 bits into `so_far`; order matters.
inline std::uint64_t fold(std::uint64_t so_far, std::uint64_t bits) noexcept {
    so_far = (so_far ^ bits) * 0x9e3779b97f4a7c15ull;
    return so_far ^ (so_far >> 29);
}

/// The same for the exact bits of `values`.
inline std::uint64_t digest(std::uint64_t so_far, std::span<const double> values) noexcept {
    for (const double value : values) so_far = fold(so_far, std::bit_cast<std::uint64_t>(value));
    return so_far;
}

} // namespace climate
