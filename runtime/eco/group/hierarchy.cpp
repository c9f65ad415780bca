// SPDX-License-Identifier: BSD-3-Clause
#include "group/hierarchy.h"

#include "group/group_state.h"
#include "group/meeting.h"
#include "host/layout.h"
#include "plexus/eco/group.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>

namespace plexus::eco::detail {
namespace {

/// Above this size a flat plan, which overlaps copying and sending, is faster than the three steps here,
/// which run one after another.
constexpr std::size_t kMostBytes = std::size_t{256} << 10;

} // namespace

std::shared_ptr<Hierarchy> Hierarchy::of(GroupState& all) {
    auto hierarchy = std::make_shared<Hierarchy>();
    hierarchy->me_ = all.me();
    std::vector<std::vector<Rank>> nodes;
    std::map<std::string_view, Rank> known;
    for (Rank member = 0; member < all.size(); ++member) {
        const auto [found, is_new] =
            known.try_emplace(all.members()[member].facts.host, static_cast<Rank>(nodes.size()));
        if (is_new) nodes.emplace_back();
        std::vector<Rank>& node = nodes[found->second];
        hierarchy->placements_.push_back({found->second, static_cast<Rank>(node.size())});
        node.push_back(member);
        hierarchy->largest_node_ = std::max(hierarchy->largest_node_, node.size());
    }
    if (nodes.size() < 2 || hierarchy->largest_node_ < 2 || hierarchy->largest_node_ > host::kMostMembers)
        return nullptr;

    constexpr std::uint64_t kSalt = 0x6e657374; // groups that split() and dup() make have other salts
    const Rank node = hierarchy->mine().node;
    hierarchy->node_group_ = branch(all, nodes[node], plexus::detail::mix(kSalt, node + 1), true);
    const bool shares = nodes[node].size() == 1 || hierarchy->node_group_->memory().there();
    const Group group = Group(all.shared_from_this()).with(Algorithm::messages()).with(no_deadline);
    if (group.all_reduce(static_cast<std::uint8_t>(shares), Min{}) == 0) return nullptr;
    std::vector<Rank> leaders;
    for (const auto& each : nodes) leaders.push_back(each.front());
    if (hierarchy->mine().local_rank == 0)
        hierarchy->leaders_ = branch(all, leaders, plexus::detail::mix(kSalt, 0), true);
    return hierarchy;
}

bool Hierarchy::supports(const CollectiveArgs& args) const noexcept {
    const auto fits = [&](std::size_t elements) { return elements * args.element_bytes <= kMostBytes; };
    switch (args.operation) {
    case Operation::barrier:
        return true;
    case Operation::broadcast:
        return fits(args.receive_elements);
    case Operation::reduce:
    case Operation::all_reduce: // the members of one host are combined first, whatever their ranks
        return fits(args.send_elements) && args.combine.commutative &&
               largest_node_ * args.element_bytes <= host::kSlotBytes;
    default:
        return false;
    }
}

std::size_t Hierarchy::scratch_bytes(const CollectiveArgs& args) const noexcept {
    const bool keeps = args.operation == Operation::reduce && leaders_ != nullptr && node_group_->size() > 1;
    return keeps ? args.send_elements * args.element_bytes : 0;
}

Hierarchy::Steps Hierarchy::steps(const CollectiveArgs& args, std::byte* scratch) const {
    Steps out;
    std::size_t count = 0;
    const auto add = [&](GroupState* group, Operation operation, Rank root, const std::byte* send,
                         std::byte* receive) {
        if (group == nullptr || group->size() == 1) return;
        Step& step = out[count++];
        step.group = group;
        step.args = args;
        step.args.operation = operation;
        step.args.root = root;
        step.args.send = send;
        step.args.receive = receive;
        step.args.send_elements = step.args.receive_elements =
            args.operation == Operation::broadcast ? args.receive_elements : args.send_elements;
    };
    GroupState* const node = node_group_.get();
    GroupState* const leaders = leaders_.get();
    const bool leads = leaders != nullptr;
    const bool alone = node->size() == 1;
    const Placement& root = placements_[args.root];
    const bool at_root = root.node == mine().node;
    switch (args.operation) {
    case Operation::barrier:
        add(node, Operation::barrier, 0, nullptr, nullptr);
        add(leaders, Operation::barrier, 0, nullptr, nullptr);
        add(node, Operation::barrier, 0, nullptr, nullptr);
        break;
    case Operation::broadcast: {
        const bool node_first = at_root && root.local_rank != 0;
        if (node_first) add(node, Operation::broadcast, root.local_rank, args.receive, args.receive);
        add(leaders, Operation::broadcast, root.node, args.receive, args.receive);
        if (!node_first) add(node, Operation::broadcast, 0, args.receive, args.receive);
        break;
    }
    case Operation::reduce:
        if (at_root) { // the inter-host result is at the leader; the intra-host reduce carries it to the root
            add(leaders, Operation::reduce, root.node, args.send, alone ? args.receive : scratch);
            add(node, Operation::reduce, root.local_rank, leads ? scratch : args.send, args.receive);
        } else {
            add(node, Operation::reduce, 0, args.send, scratch);
            add(leaders, Operation::reduce, root.node, alone ? args.send : scratch, nullptr);
        }
        break;
    default: // all_reduce: supports() permits no other
        add(node, Operation::reduce, 0, args.send, args.receive);
        add(leaders, Operation::all_reduce, 0, alone ? args.send : args.receive, args.receive);
        add(node, Operation::broadcast, 0, args.receive, args.receive);
    }
    return out;
}

std::vector<std::shared_ptr<const PlannedCall>> Hierarchy::prepare(const CollectiveArgs& args,
                                                                   const Signature& whole) const {
    std::vector<std::shared_ptr<const PlannedCall>> out;
    for (const Step& step : steps(args, nullptr)) {
        if (step.group == nullptr) break;
        const Algorithm algorithm = step.group == node_group_.get() ? Algorithm::memory() : Algorithm();
        auto part = std::make_shared<PlannedCall>(*step.group->prepare(step.args, algorithm, true));
        const Signature own = part->signature;
        part->signature = whole;
        part->signature.memory = own.memory;
        part->signature.hierarchical = false;
        part->signature.plan = own.plan;
        part->digest = part->signature.digest();
        out.push_back(std::move(part));
    }
    return out;
}

void Hierarchy::run(const PlannedCall& planned, const CollectiveArgs& args, std::byte* scratch,
                    Clock::time_point deadline) const {
    const Steps all = steps(args, scratch);
    for (std::size_t i = 0; i < planned.steps.size(); ++i)
        all[i].group->run(planned.steps[i], all[i].args, deadline);
}

void Hierarchy::learn_map(const std::shared_ptr<const Map>& map, std::uint32_t epoch) const {
    if (leaders_ != nullptr) leaders_->learn_map(map, epoch);
}

void Hierarchy::break_up(Status status, const std::string& why) const {
    node_group_->break_up(status, why, false);
    if (leaders_ != nullptr) leaders_->break_up(status, why, false);
}

} // namespace plexus::eco::detail
