// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/placement.h"

#include "plexus/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::eco {

Placement::Placement(const Routes& routes, Ports ports)
  : routes_(&routes)
  , ports_(ports)
  , resources_(static_cast<std::uint32_t>(routes.graph().links.size())) {
    if (ports_ == Ports::one) resources_ += 2 * routes.terminals();
}

Placement Placement::of_root(const Routes& routes, std::uint32_t root, const std::function<bool()>& go_on) {
    Placement out(routes);
    out.add_tasks(root, ways_tried(routes.terminals()), go_on);
    return out;
}

Placement Placement::of_pairs(const Routes& routes, const std::function<bool()>& go_on) {
    Placement out(routes);
    const std::size_t pairs = std::size_t{routes.terminals()} * routes.terminals();
    for (std::uint32_t src = 0; src < routes.terminals(); ++src) out.add_tasks(src, ways_tried(pairs), go_on);
    return out;
}

void Placement::add_tasks(std::uint32_t src, std::size_t most, const std::function<bool()>& go_on) {
    for (std::uint32_t dst = 0; dst < routes_->terminals(); ++dst) {
        if (dst == src) continue;
        begin_task();
        add_ways(src, dst, go_on() ? most : 1);
    }
}

std::uint32_t Placement::add_ways(std::uint32_t src, std::uint32_t dst, std::size_t most) {
    auto paths = routes_->paths(src, dst, most);
    const auto links = static_cast<std::uint32_t>(routes_->graph().links.size());
    for (LinkPath& path : paths) {
        if (ports_ == Ports::one) path.insert(path.end(), {links + src, links + routes_->terminals() + dst});
        add_way(src, dst, path);
    }
    return static_cast<std::uint32_t>(paths.size());
}

void Placement::add_way(std::uint32_t src, std::uint32_t dst, const std::vector<std::uint32_t>& used) {
    if (used_.size() + used.size() > kMostUsed)
        throw Error(Status::too_large,
                    fmt::format("the ways of the messages have more than {} links together", kMostUsed));
    used_.insert(used_.end(), used.begin(), used.end());
    first_used_.push_back(used_.size());
    ends_.push_back({src, dst});
    ++tasks_.back().ways;
}

Transfer Placement::transfer(std::uint32_t way) const {
    auto used = used_by(way);
    if (ports_ == Ports::one) used = used.first(used.size() - 2);
    return {src(way), dst(way), src(way), LinkPath(used.begin(), used.end())};
}

bool is_valid(const Placement& placement, const Assignment& assignment) {
    std::vector<std::vector<std::uint32_t>> used(assignment.rounds);
    for (std::size_t task = 0; task < placement.tasks().size(); ++task) {
        if (assignment.round[task] >= assignment.rounds) return false;
        const auto resources = placement.used_by(assignment.way[task]);
        auto& round = used[assignment.round[task]];
        round.insert(round.end(), resources.begin(), resources.end());
    }
    return std::all_of(used.begin(), used.end(), [](std::vector<std::uint32_t>& round) {
        std::sort(round.begin(), round.end());
        return std::adjacent_find(round.begin(), round.end()) == round.end();
    });
}

std::vector<Round> to_rounds(const Placement& placement, const Assignment& assignment) {
    std::vector<Round> out(assignment.rounds);
    for (std::size_t task = 0; task < placement.tasks().size(); ++task)
        out[assignment.round[task]].push_back(placement.transfer(assignment.way[task]));
    std::erase_if(out, [](const Round& round) { return round.empty(); });
    return out;
}

} // namespace plexus::eco
