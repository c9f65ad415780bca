// SPDX-License-Identifier: BSD-3-Clause
// The plan that follows the network: candidates, and the one that the estimate likes best.
#include "plan/builder.h"
#include "plan/eco_tree.h"
#include "plan/estimate.h"
#include "topology/refuse.h"

#include <algorithm>
#include <limits>

namespace plexus::eco {
namespace {

constexpr std::uint64_t kLeastSegmentBytes = 4096;
constexpr std::uint64_t kMostSegments = 64;
constexpr std::uint64_t kFewSegments = 4; // fewer may not pay yet where more do

class Search {
  public:
    Search(const Task& task, const Network& network)
      : task_(task)
      , network_(network)
      , least_us_(least_latencies(network))
      , in_order_(reduces(task.operation) && !task.commutative) {}

    Plan best() {
        root_ = in_order_ ? 0 : task_.root;
        if (scans(task_.operation)) return best_scan();
        try_trees(1);
        const std::uint64_t bytes = task_.elements * task_.element_bytes;
        if (has_parts(task_.operation))
            for (std::uint64_t parts = 2; parts <= kMostSegments && parts <= task_.elements; parts *= 2) {
                if (bytes / parts < kLeastSegmentBytes) break;
                const double before = least_;
                try_trees(parts);
                if (least_ >= before && parts > kFewSegments) break;
            }
        if (task_.operation == Operation::all_to_all || task_.operation == Operation::reduce_scatter ||
            network_.levels().size() == 1)
            try_patterns();
        if (best_) return std::move(*best_);
        return plan(task_, {Pattern::binomial, 2, 0, 0});
    }

  private:
    /// A scan is tied to the order of ranks: there is only the number of its messages to choose.
    Plan best_scan() {
        offer(plan(task_, {Pattern::bruck}));
        const std::uint64_t bytes = task_.elements * task_.element_bytes;
        for (std::uint64_t segment = std::max<std::uint64_t>(bytes, 1);; segment /= 2) {
            offer(plan(task_, {Pattern::chain, 2, segment}));
            if (segment / 2 < kLeastSegmentBytes || bytes / segment >= kMostSegments) break;
        }
        return std::move(*best_);
    }

    void offer(Plan plan) {
        if (in_order_ && !prove(plan).rank_order) return;
        const double time = estimate_us(plan, network_, least_us_);
        if (time >= least_) return;
        least_ = time;
        best_ = std::move(plan);
    }

    void try_trees(std::uint64_t parts) {
        const double bytes =
            static_cast<double>(task_.elements) * task_.element_bytes / static_cast<double>(parts);
        const auto with = [&](std::size_t fine, Outer outer, std::optional<Inner> inner) {
            offer(along(EcoTree(network_, least_us_, bytes, fine, outer).build(root_, inner), task_, parts));
        };
        // Every level; or the closest groups alone, all of them side by side.
        const std::size_t levels = network_.levels().size();
        for (const std::size_t fine : {levels, std::size_t{2}, std::size_t{1}}) {
            if (fine > levels) continue;
            with(fine, Outer::soonest, {});
            if (parts == 1) with(fine, Outer::farthest_first, {});
        }
        if (parts > 1) {
            with(1, Outer::chain, {});
            with(1, Outer::chain, Inner{Pattern::chain, 2});
        }
        // Where edges carry the blocks of whole subtrees, flat subtrees are often faster.
        if (has_parts(task_.operation) || task_.operation == Operation::barrier) return;
        with(levels, Outer::soonest, Inner{Pattern::star, 2});
        with(levels, Outer::soonest, Inner{Pattern::binomial, 2});
    }

    void try_patterns() {
        for (const Pattern pattern : {Pattern::ring, Pattern::butterfly, Pattern::bruck, Pattern::pairwise}) {
            if (!suits(pattern, task_.operation) || (pattern == Pattern::ring && in_order_)) continue;
            offer(plan(task_, {pattern, 2, 0, 0}));
            if (pattern == Pattern::butterfly && task_.operation == Operation::all_reduce)
                offer(plan(task_, {pattern, 2, 0, UINT64_MAX}));
        }
    }

    const Task& task_;
    const Network& network_;
    const std::vector<double> least_us_;
    const bool in_order_;
    Rank root_ = 0;
    double least_ = std::numeric_limits<double>::infinity();
    std::optional<Plan> best_;
};

} // namespace

Plan plan_eco(const Task& task, const Network& network) {
    if (task.members != network.size())
        refuse(Status::bad_argument, "a task for {} members, and a network of {}", task.members,
               network.size());
    Builder(task, 1); // refuses what makes no sense
    return Search(task, network).best();
}

} // namespace plexus::eco
