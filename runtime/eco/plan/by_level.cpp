// SPDX-License-Identifier: BSD-3-Clause
#include "plan/by_level.h"

#include "topology/refuse.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {
namespace {

bool is_tree(Pattern pattern) {
    return pattern == Pattern::star || pattern == Pattern::tree || pattern == Pattern::binomial ||
           pattern == Pattern::chain;
}

/// The members that act at one group of one level: those of a closest group, or the coordinators of its
/// parts.
struct Acting {
    std::vector<Rank> who;
    std::vector<Subnet> parts; ///< by place in `who`: the members for which it acts, rising
    Rank coordinator = 0;      ///< a place in `who`
    Subnet all;                ///< the members of all parts, rising
    GroupPattern pattern;
};

/// @error bad_argument they are not as Levels says (thrown)
void check_levels(const Levels& levels, Rank members) {
    const auto wrong = [](const char* why) {
        refuse(Status::bad_argument, "levels of groups: {}: see plexus::eco::Levels", why);
    };
    if (levels.empty()) wrong("there is none");
    if (levels.back().size() != 1) wrong("the last level is not one group");
    std::vector<std::size_t> group_below;
    for (const Partition& level : levels) {
        std::vector<std::size_t> group_of(members, level.size());
        for (std::size_t group = 0; group < level.size(); ++group) {
            if (level[group].empty()) wrong("a group has no member");
            for (const std::size_t member : level[group]) {
                if (member >= members || group_of[member] != level.size())
                    wrong("a group has a member that is none, or that is in two groups");
                group_of[member] = group;
            }
        }
        if (std::find(group_of.begin(), group_of.end(), level.size()) != group_of.end())
            wrong("a member is in no group");
        std::vector<std::size_t> joined(members, level.size()); // by group below
        for (Rank member = 0; member < members && !group_below.empty(); ++member) {
            std::size_t& into = joined[group_below[member]];
            if (into != level.size() && into != group_of[member])
                wrong("a level cuts a group of the level before");
            into = group_of[member];
        }
        group_below = std::move(group_of);
    }
}

using Structure = std::vector<std::vector<Acting>>; // by level

/// Who acts where.
Structure structure_of(const Levels& levels, Rank members, Rank root, const ChoosePattern& choose) {
    const auto has_root = [&](const Subnet& part) {
        return std::find(part.begin(), part.end(), std::size_t{root}) != part.end();
    };
    Structure out;
    Partition below;
    for (Rank member = 0; member < members; ++member) below.push_back({member});
    for (std::size_t level = 0; level < levels.size() && (level == 0 || levels[level - 1].size() > 1);
         ++level) {
        std::vector<Acting>& here = out.emplace_back(levels[level].size());
        std::vector<std::size_t> group_of(members);
        for (std::size_t group = 0; group < levels[level].size(); ++group) {
            here[group].all = levels[level][group];
            std::sort(here[group].all.begin(), here[group].all.end());
            for (const std::size_t member : here[group].all) group_of[member] = group;
        }
        std::sort(below.begin(), below.end());
        for (Subnet& part : below) {
            Acting& acting = here[group_of[part.front()]];
            if (has_root(part)) acting.coordinator = static_cast<Rank>(acting.who.size());
            acting.who.push_back(has_root(part) ? root : static_cast<Rank>(part.front()));
            acting.parts.push_back(std::move(part));
        }
        below.clear();
        for (std::size_t group = 0; group < here.size(); ++group) {
            below.push_back(here[group].all);
            if (here[group].who.size() > 1) here[group].pattern = choose(level, group);
        }
    }
    return out;
}

Blocks blocks_of(const Subnet& members) {
    std::vector<std::uint32_t> out;
    for (const std::size_t member : members) out.push_back(static_cast<std::uint32_t>(member));
    return blocks_in(std::move(out));
}

/// What groups do below the widest level, where the operation itself is done: before it, and after it.
struct Steps {
    std::optional<Operation> up;
    std::optional<Operation> down;
};

/// Scatter and gather are not among them: only trees support them, which are one tree.
Steps steps_of(Operation operation) {
    switch (operation) {
    case Operation::broadcast:
        return {std::nullopt, Operation::broadcast};
    case Operation::reduce:
        return {Operation::reduce, std::nullopt};
    case Operation::all_reduce:
        return {Operation::reduce, Operation::broadcast};
    case Operation::reduce_scatter:
        return {Operation::reduce, Operation::scatter};
    case Operation::all_gather:
        return {Operation::all_gather, Operation::broadcast};
    case Operation::all_to_all: // and inside each group directly
        return {Operation::gather, Operation::scatter};
    case Operation::barrier:
        return {Operation::barrier, Operation::barrier};
    default:
        return {};
    }
}

/// Writes the plans of groups into one plan, one after the other.
class Composer {
  public:
    Composer(const PlanRequest& request, const Structure& levels)
      : request_(request)
      , levels_(levels) {}

    Plan run() {
        const Steps steps = steps_of(request_.operation);
        const std::size_t widest = levels_.size() - 1;
        for (std::size_t level = 0; level < widest; ++level) each_of(level, steps.up);
        each_of(widest, request_.operation);
        for (std::size_t level = widest; level-- > 0;) {
            if (request_.operation == Operation::all_to_all) each_of(level, Operation::all_to_all);
            each_of(level, steps.down);
        }
        return write();
    }

  private:
    struct Stage {
        Plan plan; ///< of the places of `acting`
        const Acting* acting;
        std::vector<Blocks> blocks; ///< of each block of `plan`; empty: slices of the whole vector
    };

    void each_of(std::size_t level, std::optional<Operation> step) {
        if (!step) return;
        for (const Acting& acting : levels_[level])
            if (acting.who.size() > 1) stages_.push_back(stage(acting, *step));
    }

    /// What a group does in this step: its request, as a plan of a group of its own would have it.
    PlanRequest part_of(const Acting& acting, Operation step) const {
        PlanRequest part{step,
                         static_cast<Rank>(acting.who.size()),
                         acting.coordinator,
                         request_.elements,
                         request_.element_bytes,
                         request_.commutative};
        if (std::uint64_t blocks = vector_blocks(acting, step); blocks > 0) {
            const std::uint64_t bytes =
                std::max<std::uint64_t>(1, request_.elements * request_.element_bytes);
            part.elements = blocks;
            part.element_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
        }
        return part;
    }

    /// A step over a vector of an operation whose blocks belong to members: so many blocks are its elements.
    std::uint64_t vector_blocks(const Acting& acting, Operation step) const {
        if (request_.operation == Operation::reduce_scatter && step == Operation::reduce)
            return request_.members;
        // Members have the blocks of their group, and get those of all others.
        if (request_.operation == Operation::all_gather && step == Operation::broadcast)
            return request_.members - acting.all.size();
        return 0;
    }

    Plan plan_of(const Acting& acting, PlanRequest part) const {
        if (acting.pattern.tree) return along(*acting.pattern.tree, part, 1);
        AlgorithmOptions options = acting.pattern.options;
        const Operation step = part.operation;
        if (!supports(options.pattern, step)) {
            const bool moves = step == Operation::scatter || step == Operation::gather;
            options = {moves ? Pattern::star : Pattern::binomial};
        }
        return eco::plan(part, options);
    }

    Stage stage(const Acting& acting, Operation step) const {
        Stage out{plan_of(acting, part_of(acting, step)), &acting, {}};
        const auto count = static_cast<std::uint32_t>(out.plan.block_elements.size());
        if (const std::uint64_t blocks = vector_blocks(acting, step); blocks > 0) {
            const Blocks all = step == Operation::reduce ? Blocks{{0, static_cast<std::uint32_t>(blocks)}}
                                                         : others(blocks_of(acting.all), request_.members);
            out.blocks = slices(all, count);
        } else if (request_.operation == Operation::all_to_all) {
            out.blocks = of_pairs(acting, step);
        } else if (!has_parts(request_.operation)) {
            for (const Subnet& part : acting.parts) out.blocks.push_back(blocks_of(part));
        }
        return out;
    }

    static std::vector<Blocks> slices(const Blocks& all, std::uint64_t count) {
        std::vector<std::uint32_t> each;
        for (const BlockRange& range : all)
            for (std::uint32_t block = range.first; block < range.first + range.count; ++block)
                each.push_back(block);
        std::vector<Blocks> out;
        for (std::uint64_t at = 0; at < count; ++at) {
            const auto first = each.begin() + static_cast<std::ptrdiff_t>(each.size() * at / count);
            const auto end = each.begin() + static_cast<std::ptrdiff_t>(each.size() * (at + 1) / count);
            out.push_back(blocks_in({first, end}));
        }
        return out;
    }

    /// Of an all_to_all: what leaves a part, what enters it, or what goes from part to part of a group.
    std::vector<Blocks> of_pairs(const Acting& acting, Operation step) const {
        const Blocks outside = others(blocks_of(acting.all), request_.members);
        std::vector<Blocks> out;
        for (const Subnet& part : acting.parts) {
            const Blocks mine = blocks_of(part);
            if (step == Operation::gather) out.push_back(pairs(mine, outside));
            if (step == Operation::scatter) out.push_back(pairs(outside, mine));
            if (step == Operation::all_to_all)
                for (const Subnet& other : acting.parts) out.push_back(pairs(mine, blocks_of(other)));
        }
        return out;
    }
    Blocks pairs(const Blocks& sources, const Blocks& targets) const {
        Blocks out;
        for (const BlockRange& range : sources)
            for (std::uint32_t source = range.first; source < range.first + range.count; ++source)
                for (const BlockRange& each : targets)
                    append(out, {source * request_.members + each.first, each.count});
        return out;
    }

    /// Into how many parts a vector is cut: the least common multiple of the stages' parts. If this number is
    /// too large, the parts of the finest stage; parts of other stages then differ in size by one.
    std::uint64_t parts() const {
        constexpr std::uint64_t kMostParts = 4096;
        std::uint64_t common = 1;
        std::uint64_t finest = 1;
        for (const Stage& each : stages_) {
            const std::uint64_t here = std::max<std::size_t>(1, each.plan.block_elements.size());
            finest = std::max(finest, here);
            if (common <= kMostParts) common = std::lcm(common, here);
        }
        return common <= std::min(kMostParts, request_.elements) ? common : finest;
    }

    Plan write() {
        Plan out = Builder(request_, has_parts(request_.operation) ? parts() : 1).finish();
        const auto blocks = static_cast<std::uint32_t>(out.block_elements.size());
        for (Stage& each : stages_) {
            if (has_parts(request_.operation))
                each.blocks = slices({{0, blocks}}, each.plan.block_elements.size());
            write(each, out);
        }
        return out;
    }

    void write(const Stage& stage, Plan& out) const {
        const bool is_barrier = request_.operation == Operation::barrier;
        constexpr std::uint32_t kNone = UINT32_MAX;
        std::vector<std::uint32_t> number(stage.plan.messages.size(), kNone);
        for (std::size_t at = 0; at < number.size(); ++at) {
            const Message& message = stage.plan.messages[at];
            const auto first = static_cast<std::uint32_t>(out.ranges.size());
            for (const BlockRange& range : stage.plan.blocks_of(message))
                for (std::uint32_t block = range.first; block < range.first + range.count && !is_barrier;
                     ++block)
                    for (const BlockRange& each : stage.blocks[block]) add_range(out, first, each);
            const auto ranges = static_cast<std::uint32_t>(out.ranges.size()) - first;
            if (ranges == 0 && !is_barrier) continue;
            number[at] = static_cast<std::uint32_t>(out.messages.size());
            out.messages.push_back({stage.acting->who[message.from], stage.acting->who[message.to], first,
                                    ranges, is_barrier ? Merge::store : message.merge});
        }
        for (std::size_t place = 0; place < stage.plan.steps.size(); ++place)
            for (const Step& step : stage.plan.steps[place])
                if (number[step.message] != kNone)
                    out.steps[stage.acting->who[place]].push_back({number[step.message], step.send});
    }
    static void add_range(Plan& out, std::uint32_t first, BlockRange range) {
        if (out.ranges.size() > first && out.ranges.back().first + out.ranges.back().count == range.first) {
            out.ranges.back().count += range.count;
        } else {
            out.ranges.push_back(range);
        }
    }

    const PlanRequest& request_;
    const Structure& levels_;
    std::vector<Stage> stages_;
};

bool are_trees(const Structure& levels) {
    for (const auto& level : levels)
        for (const Acting& acting : level)
            if (acting.who.size() > 1 && !acting.pattern.tree && !is_tree(acting.pattern.options.pattern))
                return false;
    return true;
}

/// The levels, all of them trees, as one.
Tree one_tree(const Structure& levels, Rank members, Rank root) {
    Tree out(members);
    out.root = root;
    out.collect_first_to_last = false; // who is served first, over the widest level, is waited for last
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
        for (const Acting& acting : *level) {
            const auto count = static_cast<Rank>(acting.who.size());
            if (count == 1) continue;
            const AlgorithmOptions& options = acting.pattern.options;
            const Tree tree = acting.pattern.tree
                                  ? *acting.pattern.tree
                                  : regular_tree(options.pattern, options.arity, count, acting.coordinator);
            for (Rank place = 0; place < count; ++place)
                for (const Rank child : tree.children[place])
                    out.children[acting.who[place]].push_back(acting.who[child]);
        }
    return out;
}

/// @error as plan_by_level() (thrown)
void check_patterns(const PlanRequest& request, const Structure& levels) {
    for (const auto& level : levels)
        for (const Acting& acting : level) {
            const AlgorithmOptions& options = acting.pattern.options;
            if (acting.who.size() == 1 || acting.pattern.tree) continue;
            if (!supports(options.pattern, request.operation))
                refuse(Status::unsupported, "a {} makes no {}: see supports()", to_string(options.pattern),
                       to_string(request.operation));
            if (options.pattern == Pattern::tree && options.arity == 0)
                refuse(Status::bad_argument, "a tree has an arity from 1 up");
        }
}

std::uint64_t parts_of_trees(const PlanRequest& request, const Structure& levels) {
    std::uint64_t parts = 1;
    for (const auto& level : levels)
        for (const Acting& acting : level)
            if (acting.who.size() > 1 && !acting.pattern.tree)
                parts = std::max(parts, parts_of(request, acting.pattern.options));
    return parts;
}

/// @error unsupported it is not in the order of ranks (thrown)
void check_rank_order(const Plan& plan) {
    if (!prove(plan).rank_order)
        refuse(Status::unsupported,
               "levels of groups combine contributions in another order than that of the ranks "
               "here: the groups have to be runs of ranks");
}

} // namespace

Plan plan_of_groups(const PlanRequest& request, const Levels& levels, const ChoosePattern& choose) {
    Builder(request, 1); // refuses what makes no sense
    check_levels(levels, request.members);
    if (scans(request.operation))
        refuse(Status::unsupported, "there is no plan by level for {}: a scan goes by rank",
               to_string(request.operation));
    const bool in_order = reduces(request.operation) && !request.commutative;
    Structure structure = structure_of(levels, request.members, request.root, choose);
    check_patterns(request, structure);
    if (!are_trees(structure)) {
        Plan out = Composer(request, structure).run();
        if (in_order) check_rank_order(out);
        return out;
    }
    const std::uint64_t parts = parts_of_trees(request, structure);
    if (!in_order) return along(one_tree(structure, request.members, request.root), request, parts);
    // A reduction in the order of ranks has its tree at rank 0, wherever its root is.
    structure = structure_of(levels, request.members, 0, choose);
    Tree tree = one_tree(structure, request.members, 0);
    for (auto& children : tree.children) std::sort(children.begin(), children.end());
    tree.collect_first_to_last = true;
    check_rank_order(along(tree, request, 1)); // that of each part
    return along(tree, request, parts);
}

Plan plan_by_level(const PlanRequest& request, const Levels& levels,
                   const std::vector<AlgorithmOptions>& widest_first) {
    if (widest_first.empty()) refuse(Status::bad_argument, "levels of groups have at least one pattern");
    return plan_of_groups(request, levels, [&](std::size_t level, std::size_t) {
        const std::size_t last = widest_first.size() - 1;
        return GroupPattern{widest_first[last - std::min(level, last)]};
    });
}

} // namespace plexus::eco
