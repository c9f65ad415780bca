// SPDX-License-Identifier: BSD-3-Clause
// Transfers to be placed in rounds: tasks, the ways each can be done, and what of the network each way uses.
// Values. Pure.
#pragma once

#include "plexus/eco/round_schedule.h"
#include "synthesis/routes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace plexus::eco {

/// Of a pair of terminals with more shortest ways the first so many are tried; fewer where there are so many
/// pairs that all of them together had more than kWaysKept.
inline constexpr std::size_t kWaysTried = 64;
inline constexpr std::size_t kWaysKept = std::size_t{1} << 20;
/// How many ways of each are tried, of so many pairs.
constexpr std::size_t ways_tried(std::size_t pairs) noexcept {
    return std::clamp<std::size_t>(kWaysKept / std::max<std::size_t>(pairs, 1), 1, kWaysTried);
}
/// What all ways of a placement use together, at most: 1 GiB.
inline constexpr std::size_t kMostUsed = std::size_t{1} << 28;

/// Done by one of the ways [first_way, first_way + ways), in one round.
struct Task {
    std::uint32_t first_way;
    std::uint32_t ways;
};

/// A resource serves one transfer in a round: first the links by their numbers; with one port a terminal then
/// each terminal's sending and after these each terminal's accepting.
class Placement {
  public:
    /// Without tasks, with the graph's ports. `routes` has to outlive it.
    explicit Placement(const Routes& routes)
      : Placement(routes, routes.graph().ports) {}
    /// What keeps to one port is valid with all of them, too.
    Placement(const Routes& routes, Ports ports);
    /// A task for each pair of terminals, or with a root for each pair that begins there. `go_on` is asked
    /// now and then; once it says false a pair gets one way.
    static Placement of_pairs(const Routes& routes, const std::function<bool()>& go_on);
    static Placement of_root(const Routes& routes, std::uint32_t root, const std::function<bool()>& go_on);

    void begin_task() { tasks_.push_back({ways(), 0}); }
    /// To the last task: the first `most` shortest ways from `src` to `dst`. Returns how many there are.
    std::uint32_t add_ways(std::uint32_t src, std::uint32_t dst, std::size_t most = kWaysTried);
    /// To the last task: a way that uses `used`. @error too_large the ways use more than kMostUsed (thrown)
    void add_way(std::uint32_t src, std::uint32_t dst, const std::vector<std::uint32_t>& used);

    const Routes& routes() const noexcept { return *routes_; }
    const std::vector<Task>& tasks() const noexcept { return tasks_; }
    std::uint32_t ways() const noexcept { return static_cast<std::uint32_t>(ends_.size()); }
    std::uint32_t resources() const noexcept { return resources_; }
    /// What `way` uses.
    std::span<const std::uint32_t> used_by(std::uint32_t way) const noexcept {
        return {used_.data() + first_used_[way], first_used_[way + 1] - first_used_[way]};
    }
    std::uint32_t src(std::uint32_t way) const noexcept { return ends_[way].src; }
    std::uint32_t dst(std::uint32_t way) const noexcept { return ends_[way].dst; }
    /// `way`, which add_ways() made, with src's own message.
    Transfer transfer(std::uint32_t way) const;

  private:
    struct Ends {
        std::uint32_t src;
        std::uint32_t dst;
    };

    /// From `src` to each other terminal, as of_root().
    void add_tasks(std::uint32_t src, std::size_t most, const std::function<bool()>& go_on);

    const Routes* routes_;
    Ports ports_;
    std::uint32_t resources_;
    std::vector<Task> tasks_;
    std::vector<Ends> ends_;
    std::vector<std::size_t> first_used_{0};
    std::vector<std::uint32_t> used_;
};

/// Where each task goes.
struct Assignment {
    static constexpr std::uint32_t kNowhere = 0xffffffff;
    std::vector<std::uint32_t> round; ///< of each task; kNowhere: none yet
    std::vector<std::uint32_t> way;
    std::uint32_t rounds = 0;
};

/// True if every task has a round and a way, and no two of a round share a resource.
bool is_valid(const Placement& placement, const Assignment& assignment);

/// The transfers of each round that has any. `assignment` is valid.
std::vector<Round> to_rounds(const Placement& placement, const Assignment& assignment);

} // namespace plexus::eco
