// SPDX-License-Identifier: BSD-3-Clause
// The table of destinations of a schedule in HTML. Pure.
#pragma once

#include "tools/schedule/show/drawing.h"

#include <string>

namespace plexus::tools::drawing {

/// Of one table; rounds beyond are left out, and a sentence above the table says how many.
inline constexpr std::size_t kMostCells = 100'000;

/// As the paper's Tables 2 and 4: a row for each source, a column for each round, in the cell the
/// destination; several of a terminal that sends several in a round; in brackets the number of the terminal
/// whose message it is, where that is not the source.
std::string destinations_table(const Drawing& drawing);

} // namespace plexus::tools::drawing
