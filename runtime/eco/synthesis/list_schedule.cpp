// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/list_schedule.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {
namespace {

class Filler {
  public:
    Filler(const Placement& placement, Random& random)
      : placement_(placement)
      , random_(random)
      , left_(placement.resources())
      , waiting_(placement.resources())
      , order_(placement.resources())
      , busy_(placement.resources(), Assignment::kNowhere)
      , refused_(placement.tasks().size(), Assignment::kNowhere)
      , unplaced_(placement.tasks().size()) {
        out_.round.assign(placement.tasks().size(), Assignment::kNowhere);
        out_.way.assign(placement.tasks().size(), 0);
        std::vector<std::uint32_t> tasks(placement.tasks().size());
        std::iota(tasks.begin(), tasks.end(), 0U);
        random.shuffle(tasks);
        for (const std::uint32_t task : tasks) enter(task);
        std::iota(order_.begin(), order_.end(), 0U);
    }

    bool done() const noexcept { return unplaced_ == 0; }

    void fill(std::uint32_t round) {
        out_.rounds = round + 1;
        random_.shuffle(order_);
        std::stable_sort(order_.begin(), order_.end(),
                         [this](std::uint32_t a, std::uint32_t b) { return left_[a] > left_[b]; });
        for (const std::uint32_t resource : order_) {
            if (left_[resource] <= 0) break;
            if (busy_[resource] != round) serve(resource, round);
        }
    }

    Assignment finish() { return std::move(out_); }

  private:
    double share(const Task& task) const noexcept { return 1.0 / task.ways; }

    /// A task with several ways counts for each of them a share.
    void count(std::uint32_t task, double sign) {
        const Task& each = placement_.tasks()[task];
        for (std::uint32_t way = each.first_way; way < each.first_way + each.ways; ++way)
            for (const std::uint32_t resource : placement_.used_by(way))
                left_[resource] += sign * share(each);
    }

    void enter(std::uint32_t task) {
        count(task, 1);
        const Task& each = placement_.tasks()[task];
        for (std::uint32_t way = each.first_way; way < each.first_way + each.ways; ++way)
            for (const std::uint32_t resource : placement_.used_by(way))
                if (waiting_[resource].empty() || waiting_[resource].back() != task)
                    waiting_[resource].push_back(task);
    }

    /// Places one of the tasks that wait for `resource`, if one fits. Those that have a place leave the list.
    void serve(std::uint32_t resource, std::uint32_t round) {
        std::vector<std::uint32_t>& list = waiting_[resource];
        std::size_t tried = 0;
        for (std::size_t at = list.empty() ? 0 : random_.below(list.size()); tried < list.size();) {
            if (at >= list.size()) at = 0;
            const std::uint32_t task = list[at];
            if (out_.round[task] != Assignment::kNowhere) {
                list[at] = list.back();
                list.pop_back();
                continue;
            }
            if (refused_[task] != round && place(task, round)) return;
            refused_[task] = round;
            ++at;
            ++tried;
        }
    }

    bool place(std::uint32_t task, std::uint32_t round) {
        const Task& each = placement_.tasks()[task];
        const std::uint32_t first = each.ways > 1 ? random_.below(each.ways) : 0;
        for (std::uint32_t turn = 0; turn < each.ways; ++turn) {
            const std::uint32_t way = each.first_way + (first + turn) % each.ways;
            const auto used = placement_.used_by(way);
            if (std::any_of(used.begin(), used.end(), [&](std::uint32_t r) { return busy_[r] == round; }))
                continue;
            for (const std::uint32_t resource : used) busy_[resource] = round;
            out_.round[task] = round;
            out_.way[task] = way;
            count(task, -1);
            --unplaced_;
            return true;
        }
        return false;
    }

    const Placement& placement_;
    Random& random_;
    std::vector<double> left_;                        ///< of each resource: shares of tasks without a place
    std::vector<std::vector<std::uint32_t>> waiting_; ///< of each resource: tasks, placed ones among them
    std::vector<std::uint32_t> order_;                ///< of resources
    std::vector<std::uint32_t> busy_;                 ///< the last round in which each resource was used
    std::vector<std::uint32_t> refused_;              ///< the last round in which each task did not fit
    std::size_t unplaced_;
    Assignment out_;
};

} // namespace

Assignment list_schedule(const Placement& placement, std::uint32_t rounds, Random& random,
                         const std::function<bool()>& go_on) {
    Filler filler(placement, random);
    for (std::uint32_t round = 0; round < rounds && !filler.done() && go_on(); ++round) filler.fill(round);
    return filler.finish();
}

} // namespace plexus::eco
