// SPDX-License-Identifier: BSD-3-Clause
// One member's rows, and the cost of computing them. Knows nothing of other members.
// Thread: one.
#pragma once

#include "picture.h"

#include <cstdint>
#include <vector>

namespace balance {

class Worker {
  public:
    /// `slowness`: how often it does its work over.
    Worker(const Picture& picture, double slowness, bool counts_work) noexcept
      : picture_(picture)
      , slowness_(slowness)
      , counts_work_(counts_work) {}

    std::vector<Row>& rows() noexcept { return rows_; }
    /// Passes over points in the last iteration, each counted once: the cost of its rows.
    std::uint64_t work() const noexcept;

    /// One iteration of every row. The load that it was: seconds of the processor, or passes
    /// done, over and over where this member is slow.
    double advance(std::uint32_t passes);

  private:
    Picture picture_;
    double slowness_;
    bool counts_work_;
    double owed_ = 0; // of rows to be done over
    std::vector<Row> rows_;
};

} // namespace balance
