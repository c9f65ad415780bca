// SPDX-License-Identifier: BSD-3-Clause
#include "plan/rename.h"

#include "plan/builder.h"

namespace plexus::eco {
namespace {

/// Blocks that belong to members, not to places of one vector.
bool has_owners(Operation operation) { return !has_parts(operation) && operation != Operation::barrier; }

std::uint32_t renamed_block(const Plan& plan, const std::vector<Rank>& name, std::uint32_t block) {
    if (plan.operation != Operation::all_to_all) return name[block];
    return name[block / plan.members] * plan.members + name[block % plan.members];
}

} // namespace

Plan renamed(const Plan& plan, const std::vector<Rank>& name) {
    Plan out = plan;
    out.root = name[plan.root];
    out.ranges.clear();
    for (Rank member = 0; member < plan.members; ++member) out.steps[name[member]] = plan.steps[member];
    for (Message& message : out.messages) {
        const auto old = plan.blocks_of(message);
        message.from = name[message.from];
        message.to = name[message.to];
        Blocks blocks(old.begin(), old.end());
        if (has_owners(plan.operation)) {
            std::vector<std::uint32_t> each;
            for (const BlockRange& range : old)
                for (std::uint32_t block = range.first; block < range.first + range.count; ++block)
                    each.push_back(renamed_block(plan, name, block));
            blocks = blocks_in(std::move(each));
        }
        message.first_range = static_cast<std::uint32_t>(out.ranges.size());
        message.ranges = static_cast<std::uint32_t>(blocks.size());
        out.ranges.insert(out.ranges.end(), blocks.begin(), blocks.end());
    }
    return out;
}

} // namespace plexus::eco
