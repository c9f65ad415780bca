// SPDX-License-Identifier: BSD-3-Clause
// What the paper prints in its Tables 1, 3, 5 and 6. Any thread.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools::schedule {

struct PaperCell {
    std::string_view rounds; ///< as printed: "16/15" reached and bound, "6/4/3" by level, "20*" not optimal
    std::uint32_t success;   ///< per cent of ten runs
    std::string_view time;   ///< of successful runs, on average
};

struct PaperRow {
    std::string_view network;       ///< as named_graph() takes it
    std::array<PaperCell, 4> cells; ///< in the order of kCollectiveKinds

    const PaperCell& cell(eco::CollectiveKind kind) const { return cells[static_cast<std::size_t>(kind)]; }
};

/// Table 1 or 3; Tables 5 and 6 have the rows of both. @error none of these (std::out_of_range thrown)
std::span<const PaperRow> paper_rows(int table);

/// The roots that a cell's numbers are of: of a full binary tree one in each level, from the leaves up, where
/// the collective has a root; otherwise 0.
std::vector<std::uint32_t> paper_roots(const PaperRow& row, eco::CollectiveKind kind);

/// How many rounds the paper's search reached, for each of paper_roots().
std::vector<std::uint32_t> paper_rounds(const PaperRow& row, eco::CollectiveKind kind);

} // namespace plexus::tools::schedule
