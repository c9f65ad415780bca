// SPDX-License-Identifier: BSD-3-Clause
#include "plan/run.h"

#include <fmt/format.h>

namespace plexus::eco {
namespace {

constexpr char kSent = 1;
constexpr char kTaken = 2;

std::string bad_message(const Plan& plan, std::size_t at) {
    const Message& message = plan.messages[at];
    if (message.from >= plan.members || message.to >= plan.members || message.from == message.to)
        return fmt::format("message {} goes from {} to {}, of {} members", at, message.from, message.to,
                           plan.members);
    if (message.first_range > plan.ranges.size() || message.ranges > plan.ranges.size() - message.first_range)
        return fmt::format("message {} has blocks that are not in the plan", at);
    for (const BlockRange& range : plan.blocks_of(message))
        if (range.count == 0 || range.first >= plan.block_elements.size() ||
            range.count > plan.block_elements.size() - range.first)
            return fmt::format("message {} has blocks {} to {}, of {}", at, range.first,
                               std::uint64_t{range.first} + range.count, plan.block_elements.size());
    return {};
}

} // namespace

std::string misshapen(const Plan& plan) {
    if (plan.members == 0 || plan.root >= plan.members || plan.steps.size() != plan.members)
        return fmt::format("{} members, root {}, steps of {}", plan.members, plan.root, plan.steps.size());
    if (!plan.hold_ns.empty() && plan.hold_ns.size() != plan.messages.size())
        return fmt::format("{} messages, and times of {}", plan.messages.size(), plan.hold_ns.size());
    for (std::size_t at = 0; at < plan.messages.size(); ++at)
        if (std::string bad = bad_message(plan, at); !bad.empty()) return bad;
    std::vector<char> seen(plan.messages.size());
    for (Rank member = 0; member < plan.members; ++member)
        for (const Step& step : plan.steps[member]) {
            if (step.message >= seen.size())
                return fmt::format("member {} has a step for no message", member);
            const Message& message = plan.messages[step.message];
            if ((step.send ? message.from : message.to) != member)
                return fmt::format("member {} has a step of message {} from {} to {}", member, step.message,
                                   message.from, message.to);
            const char mark = step.send ? kSent : kTaken;
            if ((seen[step.message] & mark) != 0)
                return fmt::format("message {} is {} twice", step.message, step.send ? "sent" : "taken");
            seen[step.message] = static_cast<char>(seen[step.message] | mark);
        }
    for (std::size_t at = 0; at < seen.size(); ++at)
        if (seen[at] != (kSent | kTaken)) return fmt::format("message {} is not both sent and taken", at);
    return {};
}

} // namespace plexus::eco
