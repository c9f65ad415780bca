// SPDX-License-Identifier: BSD-3-Clause
// The output of a run: the imbalance of each iteration, and whether the members together computed the same
// as a single member. Prints; no network.
#pragma once

#include "options.h"

#include <plexus/eco/grid.h>

#include <cstdint>
#include <span>

namespace balance {

/// One member's iteration.
struct Turn {
    double load = 0;
    std::uint64_t rows = 0;
    std::uint64_t given = 0; ///< rows, after it
};

/// Of a whole run; work is counted once, also where a slow member does it over.
struct Total {
    std::uint64_t rows = 0;
    std::uint64_t work = 0;
    std::uint64_t checksum = 0;
};

void print_head(const Options& options, const plexus::eco::Ring& ring);
/// `turns` by rank.
void print_turn(int iteration, const Options& options, std::span<const Turn> turns);
/// True if `found` is what it should be.
bool print_end(const Total& found, const Total& alone, double balancing_s);

} // namespace balance
