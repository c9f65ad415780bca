// SPDX-License-Identifier: BSD-3-Clause
// Writes plans: messages and the steps of both of their ends, in order. Knows no pattern.
#pragma once

#include "plexus/eco/plan.h"

#include <vector>

namespace plexus::eco {

using Blocks = std::vector<BlockRange>;

/// `count` blocks from `first` on, going round at `of`.
Blocks cyclic(std::uint64_t first, std::uint64_t count, std::uint64_t of);
/// These blocks, sorted on the way; neighbours join.
Blocks blocks_in(std::vector<std::uint32_t> blocks);
/// Adds what comes behind all that is there; neighbours join.
inline void append(Blocks& to, BlockRange range) {
    if (!to.empty() && to.back().first + to.back().count == range.first) {
        to.back().count += range.count;
    } else {
        to.push_back(range);
    }
}
/// What is in [0, of) and not in `blocks`, which are sorted.
Blocks others(const Blocks& blocks, std::uint32_t of);
/// What is in [first, end) and in `blocks`, which are sorted.
Blocks between(const Blocks& blocks, std::uint32_t first, std::uint32_t end);
std::uint64_t count_of(const Blocks& blocks) noexcept;

/// How many elements each of the task's blocks has, where there are so many.
std::vector<std::uint64_t> block_elements(const PlanRequest& request, std::uint64_t blocks);

class Builder {
  public:
    /// `parts`: how many blocks the vector is cut into, where blocks are parts of one.
    /// @error bad_argument the task makes no sense (thrown)
    Builder(const PlanRequest& request, std::uint64_t parts);

    /// The sender's step; take() is the receiver's. Who exchanges posts first.
    std::uint32_t post(Rank from, Rank to, const Blocks& blocks, Merge merge = Merge::store);
    void take(std::uint32_t message);
    void pass(Rank from, Rank to, const Blocks& blocks, Merge merge = Merge::store) {
        take(post(from, to, blocks, merge));
    }

    Rank members() const noexcept { return plan_.members; }
    std::uint32_t blocks() const noexcept { return static_cast<std::uint32_t>(plan_.block_elements.size()); }
    Blocks all() const { return blocks() == 0 ? Blocks{} : Blocks{{0, blocks()}}; }
    Plan finish() { return std::move(plan_); }

  private:
    Plan plan_;
};

/// True where blocks are parts of one vector.
bool has_parts(Operation operation) noexcept;
/// True where contributions are combined.
bool reduces(Operation operation) noexcept;
/// True for scan and exclusive_scan.
bool scans(Operation operation) noexcept;

} // namespace plexus::eco
