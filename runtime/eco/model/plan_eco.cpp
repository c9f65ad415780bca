// SPDX-License-Identifier: BSD-3-Clause
// The plan that follows the network: candidates, and the one that the estimate likes best.
#include "model/plan_eco.h"

#include "model/plan_by_rule.h"
#include "plan/builder.h"
#include "plan/by_level.h"
#include "plan/eco_tree.h"
#include "plan/estimate.h"
#include "plan/exchange.h"
#include "plan/rename.h"
#include "topology/refuse.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace plexus::eco {
namespace {

constexpr std::uint64_t kLeastPartBytes = 1448; // a full segment on most wires
constexpr std::uint64_t kMostParts = 64;
constexpr std::uint64_t kFewParts = 4; // fewer may not pay yet where more do
constexpr std::size_t kMostTrees = 16;
constexpr std::size_t kMostExchangers = 16; // of a cluster, among many members: their plans are long
constexpr std::uint64_t kWidePlan = 4096;   // messages: above this, a few parts say what is worth a look
/// Clusters up to which schedules by rule are tried: they cost the cube of the number.
constexpr std::size_t kMostByRule = 128;
/// Members up to which an all_to_all by level is tried: its plan grows with the square of the number.
constexpr Rank kMostToAll = 2000;
constexpr std::uint64_t kMostByEveryone = 200; // members or groups, where each may send to each other one

/// 1, or 2 where the first level is that of sockets.
std::size_t levels_near(const Network& network) {
    const Partition& first = network.levels().front();
    for (std::size_t one = 0; one < first.size(); ++one)
        for (std::size_t other = 0; other < one; ++other)
            if (network.same_host(static_cast<Rank>(first[one].front()),
                                  static_cast<Rank>(first[other].front())))
                return std::min<std::size_t>(2, network.levels().size());
    return 1;
}

class Search {
  public:
    Search(const PlanRequest& request, const Network& network, SearchWork& work)
      : request_(request)
      , network_(network)
      , work_(work)
      , ways_(network)
      , near_(levels_near(network))
      , bytes_(static_cast<double>(request.elements) * request.element_bytes)
      , in_order_(reduces(request.operation) && !request.commutative)
      , root_(in_order_ ? 0 : request.root) {}

    Plan best() {
        if (scans(request_.operation)) return best_scan();
        for (const Rank root : roots()) {
            root_ = root;
            try_rooted();
        }
        try_patterns();
        try_levels();
        try_exchanges();
        try_rules();
        if (best_) return std::move(*best_);
        return plan(request_, {Pattern::binomial, 2, 0, 0});
    }

  private:
    /// Where no member is special, the first of each closest group may be a tree's root.
    std::vector<Rank> roots() const {
        constexpr std::size_t kMostRoots = 8;
        const bool is_free =
            request_.operation != Operation::broadcast && request_.operation != Operation::scatter &&
            request_.operation != Operation::gather && request_.operation != Operation::reduce && !in_order_;
        const Partition& closest = network_.levels()[near_ - 1];
        if (!is_free || is_large_group() || closest.size() > kMostRoots || network_.levels().size() == 1)
            return {root_};
        std::vector<Rank> out;
        for (const Subnet& group : closest) out.push_back(static_cast<Rank>(group.front()));
        return out;
    }

    void try_rooted() {
        try_trees();
        if (splits())
            for (std::uint64_t parts = 2; parts <= most_parts(); parts *= step()) {
                const double before = least_;
                try_pipelines(parts);
                if (least_ >= before && parts > kFewParts) break;
            }
        if (has_parts(request_.operation) && !in_order_)
            for (std::size_t count = 2; count <= most_trees(); count *= step()) try_forests(count);
    }

    /// A scan is tied to the order of ranks: there is only the number of its messages to choose.
    Plan best_scan() {
        offer(plan(request_, {Pattern::bruck}));
        const std::uint64_t bytes = request_.elements * request_.element_bytes;
        for (std::uint64_t segment = std::max<std::uint64_t>(bytes, 1);; segment /= 2) {
            offer(plan(request_, {Pattern::chain, 2, segment}));
            if (segment / 2 < kLeastPartBytes || bytes / segment >= kMostParts) break;
        }
        return std::move(*best_);
    }

    bool splits() const {
        return has_parts(request_.operation) || request_.operation == Operation::all_gather;
    }
    bool is_large_group() const { return request_.members > kMostByEveryone; }
    std::uint64_t step() const { return is_large_group() ? 4 : 2; }
    std::uint64_t most_parts() const {
        const bool has_blocks = request_.operation == Operation::all_gather;
        const double all = has_blocks ? bytes_ * request_.members : bytes_;
        const std::uint64_t pieces = has_blocks ? request_.members : request_.elements;
        const double by_size = std::min(all / static_cast<double>(kLeastPartBytes), 1.0 * kMostParts);
        return std::min(pieces, static_cast<std::uint64_t>(by_size));
    }
    std::size_t most_trees() const {
        std::size_t widest = 1; // of the groups below the one that has all
        const auto& levels = network_.levels();
        if (levels.size() > 1)
            for (const Subnet& group : levels[levels.size() - 2]) widest = std::max(widest, group.size());
        return std::min<std::size_t>({widest, kMostTrees, most_parts()});
    }

    void offer(Plan plan) {
        if (in_order_ && !prove(plan).rank_order) return;
        keep(std::move(plan));
    }

    void keep(Plan plan) {
        count(plan);
        const double time = expected_us(plan, ways_, least_);
        if (time >= least_) return;
        least_ = time;
        best_ = std::move(plan);
    }

    void offer(const std::vector<Tree>& trees, std::uint64_t parts) {
        if (in_order_ && !prove(along(trees, request_, 1)).rank_order) return;
        if (is_wide(trees, parts) && least_us(trees, parts) >= least_) return;
        keep(along(trees, request_, parts));
    }

    void count(const Plan& plan) {
        ++work_.plans;
        work_.messages += plan.messages.size();
        work_.ranges += plan.ranges.size();
    }

    /// Very many messages.
    bool is_wide(const std::vector<Tree>& trees, std::uint64_t parts) const {
        return parts * request_.members > kWidePlan && parts > 2 * few_parts(trees) &&
               has_parts(request_.operation);
    }
    static std::uint64_t few_parts(const std::vector<Tree>& trees) { return 4 * trees.size(); }

    /// What a wide plan is taken to need at least: open_us(), from two plans with fewer parts of the same
    /// size. With open connections each further part takes about as long as the one before.
    double least_us(const std::vector<Tree>& trees, std::uint64_t parts) {
        const std::uint64_t few = few_parts(trees);
        const auto with = [&](std::uint64_t fewer) {
            PlanRequest request = request_;
            request.elements = std::max<std::uint64_t>(fewer, request_.elements / parts * fewer);
            const Plan plan = along(trees, request, fewer);
            count(plan);
            return open_us(plan, ways_);
        };
        const double one = with(few);
        const double two = with(2 * few);
        return two +
               std::max(0.0, two - one) / static_cast<double>(few) * static_cast<double>(parts - 2 * few);
    }

    void offer_tree(double bytes, std::uint64_t parts, std::size_t fine, Outer outer,
                    std::optional<Inner> inner) {
        offer({EcoTree(ways_, bytes, fine, outer).build(root_, inner)}, parts);
    }

    /// Whole messages: every level; or the closest groups alone, all of them side by side, once with those
    /// that join them and once without.
    void try_trees() {
        const std::size_t levels = network_.levels().size();
        std::vector<std::size_t> each{levels};
        if (levels > near_ + 1) each.push_back(near_ + 1);
        if (levels > near_) each.push_back(near_);
        for (const std::size_t fine : each) {
            offer_tree(bytes_, 1, fine, Outer::soonest, {});
            if (is_large_group() && !has_parts(request_.operation))
                return; // their many blocks take long to write down
            offer_tree(bytes_, 1, fine, Outer::farthest_first, {});
        }
        // Where edges carry the blocks of whole subtrees, flat subtrees are often faster.
        if (has_parts(request_.operation) || request_.operation == Operation::barrier) return;
        offer_tree(bytes_, 1, levels, Outer::soonest, Inner{Pattern::star});
        offer_tree(bytes_, 1, levels, Outer::soonest, Inner{Pattern::binomial});
    }

    void try_pipelines(std::uint64_t parts) {
        const std::size_t levels = network_.levels().size();
        const double bytes = bytes_ / static_cast<double>(parts);
        const Inner chain{Pattern::chain, 2, true};
        const Inner tree{Pattern::tree, 2, true};
        offer_tree(bytes, parts, near_, Outer::balanced, chain);
        offer_tree(bytes, parts, levels, Outer::balanced, tree);
        if (is_large_group()) return;
        if (levels > near_) offer_tree(bytes, parts, near_, Outer::balanced, tree);
        offer_tree(bytes, parts, near_, Outer::chain, chain);
        offer_tree(bytes, parts, near_, Outer::chain, tree);
        offer_tree(bytes, parts, levels, Outer::soonest, {});
    }

    /// Several members of each group at a time: over long ways many connections start faster
    /// than one, and no member has to pass on all of it.
    void try_forests(std::size_t count) {
        const std::size_t levels = network_.levels().size();
        std::vector<std::size_t> fines{levels};
        if (levels > near_ + 1 && !is_large_group()) fines.push_back(near_ + 1);
        for (const std::uint64_t parts : {count, 4 * count}) {
            if (parts > most_parts() || (is_large_group() && parts > count)) break;
            const double bytes = bytes_ / static_cast<double>(parts);
            for (const std::size_t fine : fines) {
                for (const Outer outer : {Outer::soonest, Outer::farthest_first})
                    for (const Inner inner : {Inner{Pattern::binomial, 2, true}, Inner{Pattern::star}})
                        offer(EcoTree(ways_, bytes, fine, outer).build_several(root_, inner, count), parts);
            }
        }
    }

    /// Not where each member would send to each other one, if there is something else.
    bool may_try(Pattern pattern) const {
        if (!supports(pattern, request_.operation) || (pattern == Pattern::ring && in_order_)) return false;
        if (!is_large_group()) return true;
        if (request_.operation == Operation::all_to_all) return pattern == Pattern::pairwise;
        return pattern == Pattern::butterfly || pattern == Pattern::bruck;
    }

    /// Those without a root's bottleneck, in an order that leaves each group once.
    void try_patterns() {
        if (is_large_group() && network_.levels().size() > 1 && !one_has_most()) return;
        std::vector<Rank> name(request_.members);
        std::iota(name.begin(), name.end(), Rank{0});
        for (const Partition& level : network_.levels()) { // the widest sorts last
            std::vector<std::size_t> group_of(request_.members);
            for (std::size_t group = 0; group < level.size(); ++group)
                for (const std::size_t member : level[group]) group_of[member] = group;
            std::stable_sort(name.begin(), name.end(),
                             [&](Rank one, Rank other) { return group_of[one] < group_of[other]; });
        }
        PlanRequest request = request_;
        request.root = static_cast<Rank>(std::find(name.begin(), name.end(), request_.root) - name.begin());
        for (const Pattern pattern : {Pattern::ring, Pattern::butterfly, Pattern::bruck, Pattern::pairwise}) {
            if (!may_try(pattern)) continue;
            const auto offer_both = [&](const AlgorithmOptions& options) {
                if (network_.levels().size() == 1 || in_order_) return offer(plan(request_, options));
                offer(renamed(plan(request, options), name));
            };
            offer_both({pattern, 2, 0, 0});
            if (pattern == Pattern::butterfly && request_.operation == Operation::all_reduce)
                offer_both({pattern, 2, 0, UINT64_MAX});
        }
    }

    /// A pattern between groups and another one inside them, at least one of them no tree: EcoTree offers
    /// trees. Of large groups, those in which nobody passes on what all send.
    void try_levels() {
        if (network_.levels().size() == 1 || in_order_) return;
        if (request_.operation == Operation::all_to_all &&
            (request_.members > kMostToAll || (is_large_group() && one_has_most())))
            return;
        constexpr Pattern kEach[] = {Pattern::binomial, Pattern::ring, Pattern::butterfly, Pattern::bruck,
                                     Pattern::pairwise};
        const std::size_t inside = most_inside();
        const std::size_t outside = most_outside();
        for (const Pattern outer : kEach)
            for (const Pattern inner : kEach) {
                if (!fits(outer, outside) || !fits(inner, inside)) continue;
                if (outer == Pattern::binomial && (inner == Pattern::binomial || is_large_group())) continue;
                if (is_large_group() && (inner == Pattern::ring || inner == Pattern::pairwise)) continue;
                offer(plan_by_level(request_, network_.levels(), {{outer, 2, 0, 0}, {inner, 2, 0, 0}}));
            }
    }
    /// So many may act by it.
    bool fits(Pattern pattern, std::size_t many) const {
        const bool by_everyone = pattern == Pattern::ring || pattern == Pattern::pairwise;
        return supports(pattern, request_.operation) && (!by_everyone || many <= kMostByEveryone);
    }
    /// A closest group has more than three quarters of the members: plans by level are dear, and hardly
    /// differ from those of the group.
    bool one_has_most() const { return 4 * most_inside() > 3 * std::size_t{request_.members}; }
    std::size_t most_inside() const {
        std::size_t most = 0;
        for (const Subnet& group : network_.levels().front()) most = std::max(most, group.size());
        return most;
    }
    /// Groups that one group of a wider level joins.
    std::size_t most_outside() const {
        std::size_t most = 0;
        for (std::size_t level = 1; level < network_.levels().size(); ++level)
            for (const Subnet& group : network_.levels()[level]) {
                std::size_t parts = 0;
                for (const Subnet& part : network_.levels()[level - 1])
                    parts += std::binary_search(group.begin(), group.end(), part.front());
                most = std::max(most, parts);
            }
        return most;
    }

    /// Between the groups of each level, by all of their members or by a fraction; among many members by a
    /// few.
    void try_exchanges() {
        if (request_.operation != Operation::all_to_all || request_.members > kMostToAll) return;
        if (is_large_group() && one_has_most()) return;
        const std::size_t most = is_large_group() ? kMostExchangers : request_.members;
        for (std::size_t level = 0; level + 1 < network_.levels().size(); ++level) {
            const Partition& groups = network_.levels()[level];
            for (const std::size_t exchangers :
                 exchanger_counts(groups, is_large_group() ? step() : 1, step(), most)) {
                offer(plan_exchange(request_, groups, {exchangers, false}));
                if (groups.size() > 2 && !is_large_group())
                    offer(plan_exchange(request_, groups, {exchangers, true}));
            }
        }
    }

    /// A schedule between clusters, and chains in segments or the patterns of long vectors inside.
    void try_rules() {
        const bool has_schedules =
            request_.operation == Operation::broadcast || request_.operation == Operation::reduce;
        if (!has_schedules || in_order_) return;
        Levels levels = to_clusters(network_);
        if (levels.empty() || levels[levels.size() - 2].size() > kMostByRule) return;
        const PlansByRule plans(request_, network_, std::move(levels));
        std::vector<AlgorithmOptions> inside;
        const std::uint64_t bytes = request_.elements * request_.element_bytes;
        for (const std::uint64_t parts : {4, 16, 64})
            if (parts <= most_parts()) inside.push_back({Pattern::chain, 2, bytes / parts});
        if (!is_large_group()) inside.push_back({Pattern::butterfly, 2, 0, 0});
        inside.push_back({Pattern::binomial});
        inside.push_back({Pattern::star});
        for (const AlgorithmOptions& each : inside) try_rules(plans, each);
    }
    void try_rules(const PlansByRule& plans, const AlgorithmOptions& inside) {
        const std::vector<InterclusterSchedule> all = schedules(plans.instance(inside));
        std::vector<std::vector<ClusterSend>> tried;
        for (const ScheduleRule rule : {ScheduleRule::optimal, ScheduleRule::ecef, ScheduleRule::ecef_la}) {
            const InterclusterSchedule& between = by_rule(all, rule);
            if (std::find(tried.begin(), tried.end(), between.sends) != tried.end()) continue;
            tried.push_back(between.sends);
            keep(plans.plan(between, {inside}));
            if (is_large_group()) return;
        }
    }

    const PlanRequest& request_;
    const Network& network_;
    SearchWork& work_;
    const Ways ways_;
    const std::size_t near_; // the closest levels up to the one that cuts no host
    const double bytes_;
    const bool in_order_;
    Rank root_;
    double least_ = std::numeric_limits<double>::infinity();
    std::optional<Plan> best_;
};

} // namespace

Plan plan_eco(const PlanRequest& request, const Network& network, SearchWork& work) {
    if (request.members != network.size())
        refuse(Status::bad_argument, "a task for {} members, and a network of {}", request.members,
               network.size());
    Builder(request, 1); // refuses what makes no sense
    return Search(request, network, work).best();
}

Plan plan_eco(const PlanRequest& request, const Network& network) {
    SearchWork work;
    return plan_eco(request, network, work);
}

} // namespace plexus::eco
